import { z } from 'zod'
import type { Effort } from '../core/contract.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { titleOf } from '../core/title.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './define-tool.ts'

/** The offered fields of AGT-01. The check is `parseDelegation`, which is kinder than a schema. */
const schema = z.object({
  description: z.string().describe('3-8 words'),
  prompt: z.string(),
  subagent_type: z.string().optional(),
  model: z.string().optional(),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  run_in_background: z.boolean().optional(),
  readOnly: z.boolean().optional(),
  forkContext: z.boolean().optional().describe('start with this conversation'),
  continue: z.string().optional().describe('id of an ended sub-agent to go on with'),
  name: z.string().optional(),
  isolation: z.enum(['worktree', 'none']).optional(),
  expected_duration: z.number().optional().describe('seconds'),
  timeout: z.number().optional().describe('seconds'),
  tools: z.array(z.string()).optional(),
  max_turns: z.int().optional(),
  output_schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of the answer'),
})

/** A delegation as asked for, checked (AGT-01, 02). Times in seconds. */
export type DelegationInput = {
  /** Null: that of the agent it continues. */
  readonly title: string | null
  readonly prompt: string
  readonly type?: string
  readonly model?: string
  readonly effort?: Effort
  readonly background?: boolean
  readonly readOnly?: boolean
  /** KIN-02. */
  readonly fork: boolean
  /** Whether it is to have a worktree of its own (WKT-01); absent: as its type says. */
  readonly isolation?: 'worktree' | 'none'
  /** The ended agent it goes on with (STR-08). */
  readonly continues?: string
  readonly expectedDuration?: number
  readonly timeout?: number
  readonly tools?: readonly string[]
  readonly maxTurns?: number
  readonly outputSchema?: JsonObject
  /** One line per ignored field. */
  readonly notes: readonly string[]
}

const KNOWN = new Set([...Object.keys(schema.shape), 'task', 'label', 'team_name', 'mode'])
/** What a continued agent keeps (STR-09). */
const KEPT = ['subagent_type', 'model', 'effort', 'readOnly', 'forkContext', 'isolation'] as const
const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** Reads the input of the `agent` tool; the error is the literal text of AGT-02 where it has one. */
export function parseDelegation(raw: JsonObject): { readonly value: DelegationInput } | { readonly error: string } {
  // Some models fill in every field they are shown.
  const input: JsonObject = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== ''))
  const description = text(input['description']) ?? text(input['task'])
  const prompt = text(input['prompt'])
  const continues = text(input['continue'])
  if (description === null && continues === null) return { error: 'description is required' }
  if (prompt === null) return { error: 'prompt is required' }
  const switches = { readOnly: boolean(input['readOnly']), background: boolean(input['run_in_background']), fork: boolean(input['forkContext']) }
  if (switches.readOnly === null) return { error: 'readOnly must be true or false' }
  if (switches.background === null) return { error: 'run_in_background must be true or false' }
  if (switches.fork === null) return { error: 'forkContext must be true or false' }
  const kept = KEPT.filter((field) => continues !== null && input[field] !== undefined && input[field] !== null)
  if (kept.length > 0) return { error: `Drop ${kept.join(', ')}: a continued agent keeps its own.` }
  const { isolation } = input
  if (isolation !== undefined && isolation !== null && isolation !== 'worktree' && isolation !== 'none') return { error: 'isolation must be worktree or none' }
  const timeout = positive(input['timeout'])
  if (timeout === null) return { error: 'timeout must be a number of seconds above 0' }
  const expectedDuration = positive(input['expected_duration'])
  if (expectedDuration === null) return { error: 'expected_duration must be a number of seconds above 0' }
  const maxTurns = positive(input['max_turns'])
  if (maxTurns === null || (maxTurns !== undefined && !Number.isInteger(maxTurns))) return { error: 'max_turns must be a whole number above 0' }
  const tools = list(input['tools'])
  if (tools === null) return { error: 'tools must be a list of tool names' }
  const outputSchema = object(input['output_schema'])
  if (outputSchema === null) return { error: 'output_schema must be a JSON Schema object' }
  const effort = input['effort']
  if (effort !== undefined && effort !== null && !(typeof effort === 'string' && EFFORTS.includes(effort)) && !Number.isInteger(effort)) {
    return { error: `effort must be one of ${EFFORTS.join(', ')} or an integer` }
  }
  const title = text(input['name']) ?? text(input['label']) ?? description
  const type = text(input['subagent_type'])
  const model = text(input['model'])
  const ignored = Object.keys(input).filter((field) => !KNOWN.has(field))
  return {
    value: {
      title: title === null ? null : titleOf(title),
      prompt,
      fork: switches.fork ?? false,
      ...(isolation && { isolation }),
      ...(continues !== null && { continues }),
      ...(switches.background !== undefined && { background: switches.background }),
      ...(expectedDuration !== undefined && { expectedDuration }),
      ...(type !== null && { type }),
      ...(model !== null && { model }),
      ...(effort !== undefined && effort !== null && { effort: effort as Effort }),
      ...(switches.readOnly !== undefined && { readOnly: switches.readOnly }),
      ...(timeout !== undefined && { timeout }),
      ...(tools !== undefined && { tools }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(outputSchema !== undefined && { outputSchema }),
      notes: ignored.map((field) => `${field} is not supported here and was ignored`),
    },
  }
}

/** AGT-12. */
const plain = defineTool({
  name: 'agent',
  effect: 'delegate',
  repeatable: true,
  description: 'Start a sub-agent with its own context. Use it for work that would fill yours; do a known read, one search or an edit you understand yourself. It knows only prompt: say what to do and what to return. It is read-only unless readOnly is false. Its result comes to you, not the user. Put independent calls in one reply; run in the background what you do not need next.',
  input: schema,
})

/** The `agent` tool. Its input reaches `delegate` as written: every refusal is journaled there, in the order of AGT-03. */
export const agent: Tool = {
  ...plain,
  check: (input) => (isObject(input) ? { input } : { error: 'the input must be a JSON object' }),
  run: (input, { delegate, callId }) => delegate(input, callId),
}

const text = (value: Json | undefined): string | null =>
  (typeof value === 'string' || typeof value === 'number') && String(value).trim() !== '' ? String(value) : null

/** `undefined`: absent; `null`: not a boolean. */
const boolean = (value: Json | undefined): boolean | undefined | null =>
  value === undefined || value === null ? undefined : value === true || value === 'true' ? true : value === false || value === 'false' ? false : null

const positive = (value: Json | undefined): number | undefined | null => {
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : null
}

const list = (value: Json | undefined): readonly string[] | undefined | null => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value.split(',').map((name) => name.trim()).filter(Boolean)
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : null
}

const object = (value: Json | undefined): JsonObject | undefined | null => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') return isObject(value) ? value : null
  try {
    const parsed: unknown = JSON.parse(value)
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}
