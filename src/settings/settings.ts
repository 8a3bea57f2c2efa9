import type { PermissionMode } from '../core/agent-type.ts'
import type { Json } from '../core/json.ts'

/** USD per million tokens. */
type PriceSetting = { readonly input: number; readonly output: number; readonly cacheRead?: number; readonly cacheWrite?: number }

type ProviderSetting = {
  readonly type: 'anthropic' | 'openai' | 'openai-compatible' | 'google'
  readonly baseUrl?: string
  readonly apiKeyEnv?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly models?: readonly string[]
}

/** Every setting that takes effect, resolved over all layers (SET-01; defaults in SPEC section 21). Times in seconds. */
export type Settings = {
  /** The root run's model (MOD-04); null: none set. */
  readonly model: string | null
  readonly subagentModel: string | null
  readonly modelAliases: Readonly<Record<string, string>>
  /** Models a call may name besides aliases (MOD-03). */
  readonly allowedModels: readonly string[]
  readonly prices: Readonly<Record<string, PriceSetting>>
  readonly providers: Readonly<Record<string, ProviderSetting>>
  readonly models: { readonly maxTries: number; readonly silence: number; readonly cacheTtl: '5m' | '1h' }
  readonly limits: {
    readonly maxDepth: number
    readonly maxRunning: number
    /** Of those, in the background. */
    readonly maxBackground: number
    readonly maxQueued: number
    /** Starts asked for by models. */
    readonly launchPerSecond: number
    readonly maxTurns: number
    readonly timeout: number
    /** characters */
    readonly resultChars: number
    readonly schemaRetries: number
    /** The longest `agent_wait` without a `timeout`. */
    readonly wait: number
    /** How long a call of the root run waits for the write gate (KIN-05). */
    readonly gateWait: number
  }
  /** What becomes of a parent that has nothing left to do while its background agents run (DEL-04, 05); null: `turn` where a user sits, else `wait`. */
  readonly delivery: { readonly onIdle: 'turn' | 'wait' | 'nudge' | null; readonly maxNudges: number; readonly coalesce: number }
  readonly tasks: { readonly notify: boolean }
  readonly delegation: { readonly tools: 'agent' | 'each' | 'both' }
  /** The lists of all layers add up, and are as written: `parseRules` reads them (PRM-03). */
  readonly permissions: { readonly mode: PermissionMode; readonly allow: Json; readonly ask: Json; readonly deny: Json }
  /** What becomes of a call that asks (PRM-06, 07); null: `bubble` where somebody listens, else `decline`. */
  readonly approvals: 'bubble' | 'decline' | null
  readonly approvalTimeout: number
  readonly bash: { readonly timeout: number }
  /** What becomes of an agent's worktree (WKT-02, 09). */
  readonly worktrees: { readonly merge: 'keep' | 'queue'; readonly carryDirty: boolean }
  readonly sandbox: 'auto' | 'require' | 'off'
  /** Names of variables that agents' commands are given besides (SHL-05). */
  readonly shell: { readonly env: readonly string[] }
  readonly verify: { readonly command: string | null; readonly threshold: number; readonly maxAttempts: number; readonly maxTurns: number }
  /** Whether AGENTS.md and CLAUDE.md go into prompts (PRO-03). */
  readonly instructions: boolean
  /** Share of a model's window at which a history is compacted (PRO-08). */
  readonly compactAt: number
  readonly programs: { readonly heapMb: number; readonly slice: number }
  readonly claudeAgents: boolean
  /** Absolute folders. */
  readonly plugins: readonly string[]
  /** As written in user and managed settings; `isTrustedRoot` compares by real path. */
  readonly trustedRoots: readonly string[]
  /** `path` is the journal folder, absolute. */
  readonly journal: { readonly path: string; readonly sync: 'normal' | 'full'; readonly keepDays: number }
}
