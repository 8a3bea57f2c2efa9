import type { AgentShell } from './agent-shell.ts'
import type { ChosenModel, ModelChoice } from './choose-model.ts'
import type { AgentType, Program } from './core/agent-type.ts'
import type { Job, Model, Report, Usage } from './core/contract.ts'
import type { Grant } from './core/grant.ts'
import type { ToolAnswer } from './core/tool.ts'
import type { DeliveryOptions } from './delivery.ts'
import type { Isolation } from './isolation.ts'
import type { Journal } from './journal/journal.ts'
import type { Permissions } from './live-permissions.ts'
import type { DelegationTools } from './offer.ts'
import type { CodeResult, runCode } from './programs/run-code.ts'
import type { Environment } from './prompts/environment.ts'
import type { HistoryChoice } from './prompts/history.ts'
import type { ProjectTexts } from './prompts/project-texts.ts'
import type { Gate } from './schedule/gate.ts'
import type { SeenTexts } from './seen-files.ts'
import type { Settings } from './settings/settings.ts'
import type { Crew } from './supervisor.ts'
import type { Runner } from './threads/runner.ts'
import type { MemoryFolder } from './tools/define-tool.ts'
import type { Toolbox } from './tools/toolbox.ts'
import type { WebAccess } from './tools/web-fetch/web-access.ts'

/** Where a run's loop executes: a pooled thread, this thread, or one day another machine (DESIGN "Beyond one machine"). */
export type Place = (job: Job) => Promise<Report>

/** What starting an agent needs of the rest of the system. */
export type Services = {
  readonly crew: Crew
  readonly toolbox: Toolbox
  readonly journal: Pick<Journal, 'children' | 'recentCalls' | 'result' | 'started' | 'transcript' | 'undelivered'>
  readonly types: {
    /** The type a model or a person named (TYP-16); throws CadreError UNKNOWN_TYPE with the literal text. */
    require(written: string | undefined): AgentType
    /** VER-02: the built-in one, whatever else has its name. Throws INVARIANT when the installation has none. */
    verifier(): AgentType
    /** The canonical name of the type a text names, or the text itself. */
    nameOf(written: string): string
    /** Whether such a name asks for a fork (TYP-17). */
    isFork(written: string): boolean
    /** Those a model may name. */
    startable(): readonly AgentType[]
    /** TYP-20. */
    segment(types: readonly AgentType[]): string
  }
  /** MOD-01…04: throws CadreError SETTINGS or UNKNOWN_PROVIDER. */
  chooseModel(choice: ModelChoice): ChosenModel
  openModel(id: string): Model
  /** Where a type keeps its memory (PRO-05); null: nowhere. */
  memoryFolder(type: AgentType): MemoryFolder | null
  /** Tokens a model holds (PRO-08). */
  contextWindow(id: string): number
  isContextOverflow(error: unknown): boolean
  /** USD of one request to `used`, the model that answered, or by the price of the model that was asked. */
  cost(used: string, asked: string, usage: Usage): number
  /** A program as a model (PRG-01). */
  scriptModel(type: { readonly name: string; readonly path: string | null }, program: Program, options: { readonly tools: readonly string[]; readonly seed: number; readonly prompt: string }): Model
  /** PRO-03, 04: what the project's files say. */
  readonly project: ProjectTexts
  /** PRO-01: where agents work. */
  readonly environment: Environment
  /** What of its parent's conversation a child begins with (PRO-06). */
  readonly history: HistoryChoice
  /** An agent's bash; nothing is started before its first command. */
  openShell(grant: Grant): AgentShell
  permissions(): Permissions
  readonly isolation: Isolation
  readonly seenTexts: SeenTexts
  readonly web: WebAccess
  blame(path: string, lines: readonly number[], signal: AbortSignal): Promise<ToolAnswer>
  readonly inThread: Place
  /** Read calls in a thread, for an agent whose loop is elsewhere. */
  readonly readCalls: Runner['calls']
  /** A program that a language model wrote (PRG-03). */
  runCode(code: Parameters<typeof runCode>[1]): Promise<CodeResult>
  /** The write gate of a root (KIN-04). */
  gate(root: string): Gate
  /** As they are now (SET-02). `wait` in seconds. */
  limits(): { readonly maxQueued: number; readonly resultChars: number; readonly schemaRetries: number; readonly cacheTtl: '5m' | '1h'; readonly wait: number; readonly gateWait: number; readonly bashSeconds: number; readonly compactAt: number }
  /** Whether results may come on their own (DEL-08). */
  notifies(): boolean
  delegationTools(): DelegationTools
  /** What an idle parent does: at depth 0 what the run says, deeper always `wait`, for nobody would read what comes later. */
  delivery(depth: number): DeliveryOptions
  /** VER-01, 02; null: nobody says what the root run changed, so nothing is verified. */
  readonly verification: Verifying | null
}

/** What the verification of a root run's changes needs to know. */
export type Verifying = {
  /** Paths relative to the root. */
  changedFiles(): Promise<readonly string[]> | readonly string[]
  settings(): Settings['verify']
  /** Of the process, for the command: it is given a part of it. */
  readonly env: Readonly<Record<string, string | undefined>>
}
