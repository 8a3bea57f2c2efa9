import type { Orchestrator, OrchestratorOptions } from '../api.ts'

/** A stream of the command; `isTTY` and `columns` where it is a terminal. */
export type CliStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

/** All a command may touch of the process it runs in. */
export type CliContext = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: CliStream
  readonly stderr: CliStream
  /** Aborted by Ctrl-C and its like. */
  readonly interrupted: AbortSignal
  /** Opens the orchestrator of this folder; closed when the command has ended. */
  open(options?: OrchestratorOptions): Promise<Orchestrator>
  setExitCode(code: number): void
}
