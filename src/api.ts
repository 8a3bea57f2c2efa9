import type { AgentType } from './core/agent-type.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import type { CadreEvent } from './core/events.ts'
import type { JsonObject } from './core/json.ts'
import type { Narrowed } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import type { TypeListing, TypeRegistry } from './definitions/registry.ts'
import type { Journal } from './journal/journal.ts'
import type { Models } from './models/models.ts'
import type { Settings } from './settings/settings.ts'
import type { SweepDoors, SweepOptions } from './sweep/contract.ts'
import type { SweepSummary } from './sweep/summary.ts'
import type { Runner } from './threads/runner.ts'

/** What a host application decides. Everything has a default that is right for a command line. */
export type OrchestratorOptions = {
  /** Where the user stands; default the process's folder. */
  readonly cwd?: string
  /** The project root; default git's top level, else `cwd` (SCO-02). */
  readonly root?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Settings in code, above environment and files (SET-01). */
  readonly settings?: JsonObject
  /** Agent types in code (TYP-18). */
  readonly agents?: JsonObject
  /** Trusts the root without any file saying so (SCO-07). */
  readonly trusted?: boolean
  /** Whether agent folders are watched and reloaded (SCO-09); default true. */
  readonly watch?: boolean
  /** Where agents run; default a pool of warm threads on this machine, which `close` ends. */
  readonly runner?: Runner
  readonly onEvent?: (event: CadreEvent) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
}

export type RunOptions = {
  readonly prompt: string
  /** The agent type to run as the main agent; default none: a plain lead. */
  readonly agent?: string
  readonly model?: string
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  readonly outputSchema?: JsonObject
  readonly signal?: AbortSignal
}

/** Only `over` must be there, and what the agent type asks for: `{ over: 'src/**', agent: 'todo-audit' }` is a whole request. */
export type SweepRequest = Pick<SweepOptions, 'over' | 'schema' | 'out' | 'reduce'> & {
  /** See SweepOptions; default null: each agent gets its items as JSON. */
  readonly prompt?: SweepOptions['prompt']
  /** Items for one agent; default 1. */
  readonly batch?: number
  readonly agent?: string
  readonly model?: string
  /** Default: cores for programs, 8 for language models (CMD-05). */
  readonly parallel?: number
  readonly signal?: AbortSignal
  readonly stdin?: () => AsyncIterable<string>
  readonly onProgress?: SweepDoors['onProgress']
}

/** What a type would get here, were it started by the root run (GRA-12). */
export type Explanation = {
  readonly type: AgentType
  readonly narrowed: Narrowed
  /** Null: a program, or no model is set (see `modelNotes`). */
  readonly model: string | null
  readonly modelNotes: readonly string[]
  /** Bytes of the first request that every delegation pays: the parts of the system prompt in their order, and tool schemas. */
  readonly systemParts: readonly { readonly part: string; readonly bytes: number }[]
  readonly toolBytes: number
}

export type Orchestrator = {
  readonly root: string
  readonly home: string
  readonly settings: Settings
  readonly trusted: boolean
  readonly types: TypeRegistry
  readonly models: Models
  readonly journal: Journal
  /** Runs a prompt to its end. Rejects with a CadreError only for what the caller got wrong (model, type, settings); all else is a result. */
  run(options: RunOptions): Promise<AgentResult & { readonly session: string }>
  sweep(request: SweepRequest): Promise<SweepSummary & { readonly session: string }>
  listTypes(): TypeListing
  explain(name: string): Explanation
  /** Stops what runs (`killed`, by `user`), waits for its end to be journaled, and frees threads, processes and files. */
  close(): Promise<void>
}
