import type { Message, ToolCall, ToolOutcome } from '../core/contract.ts'
import { CadreError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { isObject, stableJson } from '../core/json.ts'
import type { ProgramCall, ProgramOutcome, ProgramStep } from '../core/program.ts'

/** A turn of a program as journaled: what it asked for, when its slice began (null: not recorded), and what it was given. */
export type RecordedTurn = { readonly calls: readonly ToolCall[]; readonly time: number | null; readonly outcomes: readonly ToolOutcome[] }

/** The answered turns of a run, oldest first: each reply with calls and the outcomes after it. */
export function recordedTurns(messages: readonly Message[]): readonly RecordedTurn[] {
  const turns: RecordedTurn[] = []
  let asked: { readonly calls: readonly ToolCall[]; readonly opaque?: Json } | null = null
  for (const message of messages) {
    if (message.role === 'assistant') asked = message
    if (message.role !== 'tool' || asked === null) continue
    turns.push({ calls: asked.calls, time: timeIn(asked.opaque), outcomes: message.outcomes })
    asked = null
  }
  return turns
}

/** What a reply of a program carries besides its calls, so that a later run can show the program the same clock (PRG-02). */
export const sealTime = (time: number): Json => ({ time })

const timeIn = (opaque: Json | undefined): number | null => (isObject(opaque) && typeof opaque['time'] === 'number' ? opaque['time'] : null)

/** PRG-07. `asked`: calls of the turns before. Throws PROGRAM with the number, from 1, of the first call that is not as recorded. */
export function checkSame(turn: RecordedTurn, step: ProgramStep, asked: number): void {
  const calls = step.kind === 'calls' ? toolCalls(step.calls) : []
  const longer = Math.max(calls.length, turn.calls.length)
  for (let i = 0; i < longer; i += 1) {
    if (sign(calls[i]) !== sign(turn.calls[i])) throw new CadreError('PROGRAM', `Program is not deterministic at call ${asked + i + 1}.`)
  }
}

const sign = (call: ToolCall | undefined): string | null => (call ? stableJson([call.id, call.name, call.input]) : null)

/** A program's calls as a reply's: `p1`, `p2`, … are unique in its run. */
export const toolCalls = (calls: readonly ProgramCall[]): readonly ToolCall[] =>
  calls.map(({ id, tool, input }) => ({ id: `p${id}`, name: tool, input, local: false }))

/** The other way round. */
export const programOutcome = ({ callId, ok, text }: ToolOutcome): ProgramOutcome => ({ id: Number(callId.slice(1)), ok, text })
