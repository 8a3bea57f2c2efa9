import type { FileRead } from './contract.ts'

/** What a read tool's function gets besides its input. What it may touch comes from here, never from `process`. */
export type ReadContext = {
  /** The real path of the folder the agent works in. Relative paths start here. */
  readonly root: string
  /** Further folders path tools may enter (real paths). */
  readonly paths: readonly string[]
  /** `data`: a program asked; the text must be the JSON of the structured result. */
  readonly form: 'text' | 'data'
  /** True once the agent was told to stop: long loops look at it and give up. */
  stopped(): boolean
}

/**
 * What a tool's function resolves to. It rejects with an Error whose message is fit for the model; the runner puts `Error: ` before it. `ok: false`:
 * it answered, and its text says what did not succeed (a command's exit code); absent: true.
 */
export type ToolAnswer = { readonly text: string; readonly ok?: boolean; readonly reads?: readonly FileRead[]; readonly hands?: readonly string[] }

/** The function of a read tool: input already checked by the main side. Runs in the agent's thread. */
export type ReadFunction<Input> = (input: Input, context: ReadContext) => Promise<ToolAnswer> | ToolAnswer
