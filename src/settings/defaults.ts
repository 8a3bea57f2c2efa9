import { join } from 'node:path'
import type { Settings } from './settings.ts'

/** SPEC section 21, for the user folder `home`. */
export const defaults = (home: string): Settings => ({
  model: null,
  subagentModel: null,
  modelAliases: {},
  allowedModels: [],
  prices: {},
  providers: {},
  models: { maxTries: 6, silence: 120, cacheTtl: '5m' },
  limits: { maxDepth: 2, maxRunning: 16, maxQueued: 1_000, maxTurns: 50, timeout: 3_600, resultChars: 24_000, schemaRetries: 3 },
  programs: { heapMb: 128, slice: 10 },
  claudeAgents: true,
  plugins: [],
  trustedRoots: [],
  journal: { path: join(home, 'journal'), sync: 'normal', keepDays: 30 },
})
