import { randomInt } from 'node:crypto'
import type { ToolCall, ToolOutcome } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { ProgramCall, ProgramOutcome } from '../core/program.ts'
import { isolateUnavailable } from './lockdown.ts'
import { pendingNote } from './pending-note.ts'
import type { Programs } from './programs.ts'

/** What a program of a language model came to. `note`: of calls nobody answered, or empty. */
export type CodeResult = { readonly value: Json | undefined; readonly log: string; readonly note: string }

/**
 * Runs a program that a language model wrote (PRG-03), in an isolate of its own. `run` answers the calls it waits for, all of one moment at once; they
 * are named `<callId>/1`, `<callId>/2`, … Rejects with PROGRAM for what the program did (PRG-04, PRG-06), with ISOLATE_UNAVAILABLE, or with the
 * signal's reason.
 */
export async function runCode(programs: Pick<Programs, 'begin'>, { code, callId, tools, run, signal }: {
  readonly code: string
  readonly callId: string
  readonly tools: readonly string[]
  run(calls: readonly ToolCall[]): Promise<readonly ToolOutcome[]>
  readonly signal: AbortSignal
}): Promise<CodeResult> {
  const begun = await begin(programs, { code, line: 1, file: 'run_code', prompt: '', tools, time: Date.now(), seed: randomInt(2 ** 32) }, signal)
  let { step } = begun
  let log = step.log
  try {
    while (step.kind === 'calls') {
      const calls = step.calls.map(({ id, tool, input }): ToolCall => ({ id: `${callId}/${id}`, name: tool, input, local: false }))
      step = await begun.program.step(answers(step.calls, await run(calls)), Date.now(), signal)
      log += step.log
    }
  } finally {
    await begun.program.close()
  }
  switch (step.kind) {
    case 'done':
      return { value: step.value, log, note: step.pending.length > 0 ? pendingNote(step.pending) : '' }
    case 'error':
      throw new CadreError('PROGRAM', withLog(`line ${step.line ?? 1}: ${step.message}`, log))
    case 'limit':
      throw new CadreError('PROGRAM', withLog(`Program stopped: ${step.limit}.`, log))
  }
}

async function begin(programs: Pick<Programs, 'begin'>, ...args: Parameters<Programs['begin']>): ReturnType<Programs['begin']> {
  try {
    return await programs.begin(...args)
  } catch (error) {
    if (!(error instanceof CadreError) || error.code !== 'ISOLATE_UNAVAILABLE') throw error
    throw isolateUnavailable(error.cause, 'run_code')
  }
}

const answers = (calls: readonly ProgramCall[], outcomes: readonly ToolOutcome[]): readonly ProgramOutcome[] =>
  calls.map(({ id, tool }, i) => {
    const outcome = outcomes[i]
    return outcome ? { id, ok: outcome.ok, text: outcome.text } : { id, ok: false, text: `Error: ${tool} gave no outcome` }
  })

/** What it logged is often why it failed. */
const withLog = (message: string, log: string): string => (log.trim() === '' ? message : `${message}\nLog:\n${log.trimEnd()}`)
