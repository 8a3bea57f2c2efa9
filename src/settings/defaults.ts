import { join } from 'node:path'
import { PERMISSION_DEFAULTS } from './permission-settings.ts'
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
  limits: {
    maxDepth: 2, maxRunning: 16, maxBackground: 20, maxQueued: 1_000, launchPerSecond: 20, maxTurns: 50, timeout: 3_600, resultChars: 24_000, schemaRetries: 3,
    wait: 600, gateWait: 120,
  },
  delivery: { onIdle: null, maxNudges: 3, coalesce: 0.25 },
  tasks: { notify: true },
  delegation: { tools: 'agent' },
  ...PERMISSION_DEFAULTS,
  bash: { timeout: 120 },
  worktrees: { merge: 'keep', carryDirty: false },
  sandbox: 'auto',
  shell: { env: [] },
  verify: { command: null, threshold: 3, maxAttempts: 2, maxTurns: 15 },
  instructions: true,
  compactAt: 0.8,
  programs: { heapMb: 128, slice: 10 },
  claudeAgents: true,
  plugins: [],
  trustedRoots: [],
  journal: { path: join(home, 'journal'), sync: 'normal', keepDays: 30 },
})
