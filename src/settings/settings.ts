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
    readonly maxQueued: number
    readonly maxTurns: number
    readonly timeout: number
    /** characters */
    readonly resultChars: number
    readonly schemaRetries: number
  }
  readonly programs: { readonly heapMb: number; readonly slice: number }
  readonly claudeAgents: boolean
  /** Absolute folders. */
  readonly plugins: readonly string[]
  /** As written in user and managed settings; `isTrustedRoot` compares by real path. */
  readonly trustedRoots: readonly string[]
  /** `path` is the journal folder, absolute. */
  readonly journal: { readonly path: string; readonly sync: 'normal' | 'full'; readonly keepDays: number }
}
