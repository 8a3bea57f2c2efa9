import type { Program } from '../core/agent-type.ts'
import type { Model, ModelContext, ModelRequest, Reply } from '../core/contract.ts'
import { NO_USAGE } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { ProgramOutcome, ProgramStart, ProgramStep } from '../core/program.ts'
import { isolateUnavailable } from './lockdown.ts'
import type { Programs, RunningProgram } from './programs.ts'
import { pendingNote } from './pending-note.ts'
import type { RecordedTurn } from './recorded-turns.ts'
import { checkSame, programOutcome, recordedTurns, sealTime, toolCalls } from './recorded-turns.ts'

export type ScriptModelOptions = {
  readonly programs: Programs
  readonly type: { readonly name: string; readonly path: string | null; readonly program: Program }
  /** Names of the granted tools. */
  readonly tools: readonly string[]
  readonly seed: number
  readonly prompt: string
}

/**
 * A program as a model (PRG-01): the calls it waits for when it can go no further are one turn's tool calls, its return value is the last
 * reply (PRG-02). Rejects with PROGRAM (PRG-04, PRG-06), ISOLATE_UNAVAILABLE, CRASHED or the signal's reason. A first request that already
 * holds turns (a resumed run) runs the program through them again with their outcomes and their times (PRG-07).
 */
export function scriptModel(options: ScriptModelOptions): Model {
  const { programs, type, tools, seed, prompt } = options
  const file = type.path ?? type.name
  let program: RunningProgram | null = null
  let returned = false
  let log = ''

  async function begin(time: number, signal: AbortSignal): Promise<ProgramStep> {
    const start: ProgramStart = { ...type.program, file, prompt, tools, time, seed }
    try {
      const begun = await programs.begin(start, signal)
      program = begun.program
      log = begun.step.log
      return begun.step
    } catch (error) {
      if (!(error instanceof CadreError) || error.code !== 'ISOLATE_UNAVAILABLE') throw error
      throw isolateUnavailable(error.cause, `The agent type "${type.name}" runs a program, which`)
    }
  }

  /** Through the recorded turns once more, to where the recording ends. */
  async function replay(turns: readonly RecordedTurn[], time: number, signal: AbortSignal): Promise<ProgramStep> {
    let step = await begin(turns[0]?.time ?? time, signal)
    let asked = 0
    for (const [i, turn] of turns.entries()) {
      checkSame(turn, step, asked)
      asked += turn.calls.length
      step = await stepOf(turn.outcomes.map(programOutcome), turns[i + 1]?.time ?? time, signal)
    }
    return step
  }

  async function stepOf(outcomes: readonly ProgramOutcome[], time: number, signal: AbortSignal): Promise<ProgramStep> {
    if (program === null || returned) throw new CadreError('PROGRAM', `The program of ${file} has returned: it cannot be asked again.`)
    const step = await program.step(outcomes, time, signal)
    log += step.log
    return step
  }

  return {
    id: 'script',
    async generate({ messages, time }: ModelRequest, { signal }: ModelContext): Promise<Reply> {
      const latest = messages.findLast(({ role }) => role === 'tool')
      const step = program === null
        ? await replay(recordedTurns(messages), time, signal)
        : await stepOf(latest?.role === 'tool' ? latest.outcomes.map(programOutcome) : [], time, signal)
      returned = step.kind !== 'calls'
      return reply(step, time)
    },
    close: () => program?.close(),
  }

  function reply(step: ProgramStep, time: number): Reply {
    const rest = { usage: NO_USAGE, model: 'script', opaque: sealTime(time) }
    switch (step.kind) {
      case 'calls':
        if (step.calls.length === 0) throw new CadreError('INVARIANT', `The program of ${file} was not handed every outcome.`)
        return { text: '', calls: toolCalls(step.calls), ...rest }
      case 'done': {
        const { value, pending } = step
        const text = value === undefined ? log.trimEnd() : typeof value === 'string' ? value : JSON.stringify(value)
        const notes = pending.length > 0 ? { notes: [pendingNote(pending)] } : {}
        return { text, calls: [], ...rest, ...(value === undefined ? {} : { value }), ...notes }
      }
      case 'error':
        throw new CadreError('PROGRAM', `${file}:${step.line ?? type.program.line}: ${step.message}`)
      case 'limit':
        throw new CadreError('PROGRAM', `Program stopped: ${step.limit}.`)
    }
  }
}
