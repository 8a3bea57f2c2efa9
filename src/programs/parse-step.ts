import type { Json } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { PROGRAM_LIMITS } from '../core/program-wire.ts'
import type { ProgramAnswer } from '../core/program-wire.ts'
import type { ProgramCall, ProgramLimit, ProgramStep } from '../core/program.ts'

/** Levels of arrays and objects in what a program hands out: far below where JSON.stringify or structured clone runs out of stack. */
const MAX_DEPTH = 128
const MESSAGE_CHARS = 4_000
const LIMITS: readonly ProgramLimit[] = ['heap', 'running time', 'pending calls', 'log', 'memory', 'process ended']

/** An answer of an isolate process, or null when it is none. */
export function parseAnswer(message: unknown): ProgramAnswer | null {
  if (!isObject(message) || typeof message['run'] !== 'number') return null
  const { run, body, unavailable } = message
  if (typeof unavailable === 'string') return { run, unavailable: unavailable.slice(0, MESSAGE_CHARS) }
  return typeof body === 'string' && body.length <= PROGRAM_LIMITS.answerChars ? { run, body } : null
}

/**
 * The step an isolate process wrote down, checked as what a stranger wrote: known shape, granted tools, bounded sizes and depth, no key
 * `__proto__`. Null when it is anything else; then the process is not to be trusted with another program.
 */
export function parseStep(body: string, tools: readonly string[]): ProgramStep | null {
  const step = parse(body)
  if (!isObject(step)) return null
  const { kind, log } = step
  if (typeof log !== 'string' || log.length > PROGRAM_LIMITS.logChars) return null
  if (!isTame(step, MAX_DEPTH)) {
    return { kind: 'error', message: `the program hands out data nested deeper than ${MAX_DEPTH} levels`, line: null, log }
  }
  switch (kind) {
    case 'calls': {
      const calls = callsOf(step['calls'], tools)
      return calls && { kind, calls, log }
    }
    case 'done': {
      const pending = callsOf(step['pending'], tools)
      return pending && { kind, value: step['value'], pending, log }
    }
    case 'error': {
      const { message, stack } = step
      if (typeof message !== 'string' || typeof stack !== 'string') return null
      return { kind, message: message.slice(0, MESSAGE_CHARS).replaceAll(/\s*\n\s*/g, ' '), line: lineIn(stack), log }
    }
    case 'limit': {
      const limit = LIMITS.find((name) => name === step['limit'])
      return limit === undefined ? null : { kind, limit, log }
    }
    default:
      return null
  }
}

function callsOf(list: Json | undefined, tools: readonly string[]): readonly ProgramCall[] | null {
  if (!Array.isArray(list) || list.length > PROGRAM_LIMITS.pendingCalls) return null
  const calls = list.flatMap((call: Json) => {
    if (!isObject(call)) return []
    const { id, tool, input } = call
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof tool !== 'string' || input === undefined) return []
    return tools.includes(tool) ? [{ id, tool, input }] : []
  })
  return calls.length === list.length ? calls : null
}

function parse(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json // what JSON.parse makes is Json
  } catch {
    return undefined // not JSON: the caller gives up on the process
  }
}

/** Whether a value is shallow enough. Takes the keys `__proto__` out on its way: to half of JavaScript they mean a prototype. */
function isTame(value: Json | undefined, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
  return Object.values(value).every((inner: Json | undefined) => isTame(inner, depth - 1))
}

/** The Markdown line in the topmost frame that is the program's own. */
function lineIn(stack: string): number | null {
  const line = /cadre:program:(\d{1,7}):\d+/.exec(stack)?.[1]
  return line === undefined ? null : Number(line)
}
