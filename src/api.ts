import type { PermissionMode } from './core/agent-type.ts'
import type { AgentType } from './core/agent-type.ts'
import type { ApprovalAnswer, ApprovalRequest } from './core/approval.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import type { CadreEvent } from './core/events.ts'
import type { JsonObject } from './core/json.ts'
import type { Narrowed } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import type { FinalStatus } from './core/status.ts'
import type { TypeListing, TypeRegistry } from './definitions/registry.ts'
import type { IdlePolicy } from './delivery.ts'
import type { AgentRow, Journal } from './journal/journal.ts'
import type { Models } from './models/models.ts'
import type { HistoryChoice } from './prompts/history.ts'
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
  /** False: no run may delegate (AGT-01). `messages`: what of its parent's conversation a child begins with; default none (PRO-06). */
  readonly delegation?: false | { readonly messages?: HistoryChoice }
  /** Decides over calls that ask (PRM-07); without it, or with the setting `approvals` at `decline`, they are declined (PRM-06). */
  readonly onApproval?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer | undefined>
  /** Hear every delegation at every depth (PRM-15). */
  readonly onDelegationStart?: (delegation: DelegationInfo) => void
  readonly onDelegationComplete?: (delegation: DelegationInfo & AgentResult) => void
}

/** Whom a delegation hook is about. `parent` is null for a sweep's own agents' root only. */
export type DelegationInfo = {
  readonly agentId: string
  readonly parent: string | null
  readonly session: string
  readonly depth: number
  readonly title: string
  readonly agentType: string
}

/** What a run does with results of background agents that come when it has nothing left to do (DEL-04, 05). */
export type IdleOptions = {
  /** Default: setting `delivery.onIdle`, else `wait`. */
  readonly onIdle?: IdlePolicy
  /** With `turn`: each answer that is not the last, as it is given. */
  readonly onAnswer?: (text: string) => void
}

/** What the host knows of a run's changes. */
export type ChangeOptions = {
  /** The files the run changed so far, relative to the root: asked for when it says it is done (VER-01, 02). Default: nothing is verified. */
  readonly changedFiles?: () => Promise<readonly string[]> | readonly string[]
}

export type RunOptions = IdleOptions & ChangeOptions & {
  readonly prompt: string
  /** The agent type to run as the main agent; default none: a plain lead. */
  readonly agent?: string
  readonly model?: string
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  /** Default: the setting `permissions.mode` (PRM-01). */
  readonly permissionMode?: PermissionMode
  readonly outputSchema?: JsonObject
  /** False: it may start no agent type; a list: only these, at every depth (GRA-10). */
  readonly types?: boolean | readonly string[]
  readonly signal?: AbortSignal
}

export type ResumeOptions = IdleOptions & ChangeOptions & {
  /** The session's id, or the beginning of it. */
  readonly session: string
  /** What its root run is asked next; without one it goes on where it stood. */
  readonly prompt?: string
  readonly signal?: AbortSignal
}

/** An agent as a tool of a host's own agent (AGT-13). */
export type AgentTool = {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly input: JsonObject
  /** Runs the agent on a task to its end; `text` is what a model should read. Rejects only for what the definition got wrong (model, settings). */
  execute(input: { readonly task: string }, options?: { readonly signal?: AbortSignal }): Promise<{ readonly text: string; readonly result: AgentResult & { readonly session: string } }>
}

/** What became of one item of an edit (CMD-06): how its branch was merged, `kept` where it was not to be, else how its agent ended. */
export type EditItem = { readonly item: string; readonly status: NonNullable<AgentResult['merge']>['status'] | 'kept' | FinalStatus; readonly result: AgentResult }

/** Items that landed in an earlier run and are as they were left count as `cached`, and are in no row. */
export type EditSummary = SweepSummary & { readonly items: readonly EditItem[]; readonly session: string }

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
  /**
   * Goes on with a session of this root (JRN-03…07): its interrupted agents, and its root run, with `prompt` or where it stood. Rejects with
   * NOT_FOUND, or USAGE when it is in use or has ended and there is no prompt.
   */
  resume(options: ResumeOptions): Promise<AgentResult & { readonly session: string }>
  /** The agents of the sessions that run here, and what the user may do to each, at any depth (STR-01). */
  readonly agents: {
    list(): readonly AgentRow[]
    /** It reads the message before its next turn. Rejects with NOT_FOUND for one that does not run here. */
    send(id: string, text: string): Promise<void>
    /** Resolves when its end is journaled (STR-05). */
    stop(id: string): Promise<void>
  }
  /** A type of the host's own as a tool for the host's own agent (AGT-13). Throws USAGE for a definition that is none. */
  agentAsTool(definition: JsonObject): AgentTool
  /** Resolves when no session is open: background agents that went on without their run have ended, too. */
  settled(): Promise<void>
  sweep(request: SweepRequest): Promise<SweepSummary & { readonly session: string }>
  /**
   * A sweep whose agents write, each in a git worktree of its own; what they changed is merged as the setting `worktrees.merge` says (CMD-06). Default
   * agent: `implementer`. Rejects with USAGE where there is no git repository with a commit.
   */
  edit(request: SweepRequest): Promise<EditSummary>
  listTypes(): TypeListing
  explain(name: string): Explanation
  /** Stops what runs (`killed`, by `user`), waits for its end to be journaled, and frees threads, processes and files. */
  close(): Promise<void>
}
