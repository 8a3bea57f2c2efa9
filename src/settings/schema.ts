import { z } from 'zod'
import { PERMISSION_SETTINGS } from './permission-settings.ts'

/** Bounds of numbers in settings: what a timer can hold (seconds), the smallest heap an isolate starts with (MB), the longest time results wait for each other, the smallest part of a window worth filling. */
const BOUNDS = { seconds: 2_000_000, smallestHeapMb: 8, coalesceSeconds: 60, bashSeconds: 600, smallestShare: 0.1 }

const count = (from: number) => z.int().min(from).describe(`an integer of at least ${from}`)
const seconds = () => z.number().positive().max(BOUNDS.seconds).describe(`a number of seconds above 0, at most ${BOUNDS.seconds}`)
const yesOrNo = () => z.boolean().describe('true or false')
const word = () => z.string().trim().min(1)
const money = () => z.number().min(0).describe('a number of USD, at least 0')
const model = () => word().nullable().describe('a model name or null')
const list = (of: string) => z.array(word()).describe(`a list of ${of}`)

const price = z
  .strictObject({ input: money(), output: money(), cacheRead: money().exactOptional(), cacheWrite: money().exactOptional() })
  .describe('a map of USD per million tokens: input, output and, if you like, cacheRead and cacheWrite')

/** MOD-08. */
const provider = z
  .strictObject({
    type: z.enum(['anthropic', 'openai', 'openai-compatible', 'google']).describe('anthropic, openai, openai-compatible or google'),
    baseUrl: z.url({ protocol: /^https?$/ }).describe('an http or https URL').exactOptional(),
    apiKeyEnv: word().describe('the name of an environment variable').exactOptional(),
    headers: z.record(z.string(), z.string()).describe('a map of texts').exactOptional(),
    models: list('model names').exactOptional(),
  })
  .describe('a map with type and, if you like, baseUrl, apiKeyEnv, headers and models')

/**
 * Every setting that takes effect. A `strictObject` below this one is a section, a record is a map whose entries stand alone; the
 * description of each setting completes "must be …".
 */
export const SETTINGS = z.strictObject({
  model: model(),
  subagentModel: model(),
  modelAliases: z.record(z.string(), word().describe('a model name')),
  allowedModels: list('model names'),
  prices: z.record(z.string(), price),
  providers: z.record(z.string(), provider),
  models: z.strictObject({ maxTries: count(1), silence: seconds(), cacheTtl: z.enum(['5m', '1h']).describe('"5m" or "1h"') }),
  limits: z.strictObject({
    maxDepth: count(0),
    maxRunning: count(1),
    maxBackground: count(1),
    maxQueued: count(0),
    launchPerSecond: count(1),
    maxTurns: count(1),
    timeout: seconds(),
    resultChars: count(1),
    schemaRetries: count(0),
    wait: seconds(),
    gateWait: seconds(),
  }),
  delivery: z.strictObject({
    onIdle: z.enum(['turn', 'wait', 'nudge']).nullable().describe('"turn", "wait" or "nudge"'),
    maxNudges: count(0),
    coalesce: z.number().min(0).max(BOUNDS.coalesceSeconds).describe(`a number of seconds, at most ${BOUNDS.coalesceSeconds}`),
  }),
  tasks: z.strictObject({ notify: yesOrNo() }),
  delegation: z.strictObject({ tools: z.enum(['agent', 'each', 'both']).describe('"agent", "each" or "both"') }),
  ...PERMISSION_SETTINGS,
  bash: z.strictObject({ timeout: z.number().positive().max(BOUNDS.bashSeconds).describe(`a number of seconds, at most ${BOUNDS.bashSeconds}`) }),
  worktrees: z.strictObject({ merge: z.enum(['keep', 'queue']).describe('"keep" or "queue"'), carryDirty: yesOrNo() }),
  sandbox: z.enum(['auto', 'require', 'off']).describe('"auto", "require" or "off"'),
  shell: z.strictObject({ env: list('names of environment variables') }),
  verify: z.strictObject({ command: word().nullable().describe('a command or null'), threshold: count(0), maxAttempts: count(0), maxTurns: count(1) }),
  instructions: yesOrNo(),
  compactAt: z.number().min(BOUNDS.smallestShare).max(1).describe(`a number from ${BOUNDS.smallestShare} to 1`),
  programs: z.strictObject({ heapMb: count(BOUNDS.smallestHeapMb), slice: seconds() }),
  claudeAgents: yesOrNo(),
  plugins: list('folders'),
  trustedRoots: list('folders'),
  journal: z.strictObject({
    path: word().describe('a folder'),
    sync: z.enum(['normal', 'full']).describe('"normal" or "full"'),
    keepDays: count(1),
  }),
})
