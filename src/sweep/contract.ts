import type { FileRead } from '../core/contract.ts'
import type { JsonObject } from '../core/json.ts'
import type { AgentResult } from '../core/result.ts'

/** One thing to work on: a file's path, a line, or the JSON of a row; and the values its columns put into a prompt. */
export type SweepItem = { readonly item: string; readonly columns: Readonly<Record<string, string>> }

export type SweepOptions = {
  /**
   * Glob patterns (commas outside brackets separate them, `!` takes away), one `.csv`, `.tsv`, `.jsonl` or `.ndjson` file, or `-` for
   * lines of stdin.
   */
  readonly over: string
  /**
   * `{item}` and `{<column>}` are filled in. `null`: the agent gets `{"items":[{"item":…,<columns>}]}` as JSON, as a program wants it; columns
   * are text there too, so a number of a row reaches the program as it was written, whatever a number of JavaScript can hold.
   */
  readonly prompt: string | null
  /** Items for one agent, at least 1. */
  readonly batch: number
  /** Agents at work at the same time, at least 1. */
  readonly parallel: number
  /** JSON Schema of each agent's value (AGT-10); checked by whoever runs the agent. */
  readonly schema?: JsonObject | null
  /** Folder for `results.jsonl`, `report.md` and `report.sarif`, absolute or relative to where the user stands. */
  readonly out?: string | null
  /** The prompt of one last agent that reads all results. */
  readonly reduce?: string | null
  /** Stops the sweep; what has finished is kept. */
  readonly signal: AbortSignal
}

export type SweepWork = {
  readonly prompt: string
  readonly title: string
  /** To be journaled with the end of the run, for `finished`. */
  readonly key: string
  readonly schema: JsonObject | null
  readonly signal: AbortSignal
}

/** How a run came out, and the files it rests on; `null` when nobody knows which: such a run is never skipped. */
export type SweepRun = { readonly result: AgentResult; readonly reads: readonly FileRead[] | null }

/** Where a sweep finds what to work on, handed in: all that is needed before anything is run. */
export type SweepInputs = {
  /** The real path of the folder that `listFiles` answers relative to. */
  readonly root: string
  /** Where the user stands, absolute: `out` is relative to it. */
  readonly cwd: string
  /** All files that match one glob pattern, git-ignored ones left out, sorted; relative to `root`. */
  listFiles(pattern: string): Promise<readonly string[]>
  /** The bytes of a regular file, whose path is absolute or relative to `cwd`; rejects for a FIFO or device instead of waiting for it. */
  readFile(path: string): Promise<Buffer>
  /** The lines of stdin, without their line ends. */
  stdin(): AsyncIterable<string>
}

/** Who works on it, handed in. */
export type SweepAgents = {
  readonly typeHash: string
  /** The agent type's name. */
  readonly agent: string
  /** Runs one agent to its end. An agent's failure is a result; a rejection ends the whole sweep with that error. */
  start(work: SweepWork): Promise<SweepRun>
  /** The latest run that ended under this key in any earlier sweep. */
  finished(key: string): SweepRun | undefined
  /** The hash `FileRead` would have for this file now; `null` when it is gone. */
  hashFile(path: string): Promise<string | null> | string | null
  /** Runs the agent of `--reduce`. */
  reduce?(prompt: string, signal: AbortSignal): Promise<AgentResult>
  onProgress(progress: SweepProgress): void
}

/** What a sweep needs from the rest of Cadre. */
export type SweepDoors = SweepInputs & SweepAgents

/** Counts of items, but for `running`, which counts agents. `cached` ones, skipped because they finished earlier, are part of `done`. */
export type SweepProgress = {
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly cached: number
  readonly running: number
  readonly costUsd: number
}
