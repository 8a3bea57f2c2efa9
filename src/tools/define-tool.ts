import { z } from 'zod'
import type { ToolAnswer } from '../core/tool.ts'
import type { Effect, ToolSchema } from '../core/contract.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { TodoItem } from '../core/todo-item.ts'
import type { WebAccess } from './web-fetch/web-access.ts'

/** What a tool of the main side may use: handed in by the composition root, so a tool never reaches past its context. */
export type MainContext = {
  readonly root: string
  /** Further folders path tools may enter (real paths). */
  readonly paths: readonly string[]
  readonly signal: AbortSignal
  readonly callId: string
  /** The asking agent's `agent` tool; see `delegate.ts`. Rejects with CadreError REFUSED for a refusal. */
  delegate(input: JsonObject, callId: string): Promise<ToolAnswer>
  /** What it may do to the agents it started; see `companions.ts`. Each rejects with CadreError REFUSED for an agent it did not start (STR-01). */
  readonly companions: Companions
  /** Runs JavaScript over the agent's other tools for so many seconds (PRG-03). Rejects with what it threw, or the limit it broke. */
  program(code: string, seconds: number): Promise<ToolAnswer>
  /** Who last changed these lines, as git knows: JSON, and what it rests on. */
  blame(path: string, lines: readonly number[]): Promise<ToolAnswer>
  readonly files: SeenFiles
  readonly shell: Shell
  readonly web: WebAccess
  /** Null: its type keeps no memory. */
  readonly memory: MemoryFolder | null
  readonly todo: TodoList
}

/** What this agent last read or wrote of a file (TOO-07). Paths as in `FileRead`: relative to the root, absolute where they lie outside. */
export type SeenFiles = {
  /** The hash a `FileRead` of it carried; null: neither read nor written. */
  hashOf(path: string): string | null
  /** The whole text of that hash; null where it is not known any more. */
  seenText(path: string): string | null
}

/** Runs commands as the agent's grant lets them (SHL-01…06); `timeoutMs` null: as long as the settings say. `ok`: it ran to its end and exited with 0. Rejects when no command can be run at all. */
export type Shell = {
  run(command: string, options: { readonly timeoutMs: number | null; readonly description: string | null }): Promise<{ readonly text: string; readonly ok: boolean }>
}

/** Where an agent type keeps its memory (PRO-05). `base` is trusted, and made where it is missing; nothing from there down to `path` may be a link. Both absolute. */
export type MemoryFolder = { readonly base: string; readonly path: string }

/** The agent's own list, for roster and viewer (TOO-11). Resolves when it is kept. */
export type TodoList = { replace(items: readonly TodoItem[]): Promise<void> }

/** The tools beside `agent` (STR-02…07). Times in seconds. */
export type Companions = {
  send(id: string, message: string): Promise<ToolAnswer>
  stop(id: string): Promise<ToolAnswer>
  /** `ids` null: all that run in the background. */
  wait(ids: readonly string[] | null, until: 'all' | 'any', timeout: number | null): Promise<ToolAnswer>
  list(): Promise<ToolAnswer>
  check(id: string, offset: number): Promise<ToolAnswer>
}

/** A tool: one constant in one file. Without `run` it is a read tool whose function lives in `reading/` and runs in the agent's thread. */
export type Tool = {
  readonly name: string
  readonly effect: Effect
  readonly schema: ToolSchema
  /** The checked input with its defaults, or one sentence that names the field and what was expected (TOO-01). */
  check(input: Json): { readonly input: JsonObject } | { readonly error: string }
  readonly run?: (input: JsonObject, context: MainContext) => Promise<ToolAnswer>
  /** Whether a call that was interrupted may be run again (JRN-04): it changes nothing, or finds what it began. */
  readonly repeatable: boolean
}

/** Makes a tool from its zod schema: one schema for the check, the types and what the model sees. */
export function defineTool<Shape extends z.ZodRawShape>(definition: {
  readonly name: string
  readonly effect: Effect
  readonly description: string
  readonly input: z.ZodObject<Shape>
  /** The fields a model is shown, where the check takes more spellings than need be learned; default all. */
  readonly shown?: readonly (keyof Shape & string)[]
  /** Default: whether its effect is `read`. */
  readonly repeatable?: boolean
  readonly run?: (input: z.output<z.ZodObject<Shape>>, context: MainContext) => Promise<ToolAnswer>
}): Tool {
  const { name, effect, description, input: schema, shown, run, repeatable = effect === 'read' } = definition
  return {
    name,
    effect,
    repeatable,
    schema: { name, description, input: jsonSchemaOf(schema, shown) },
    check(input) {
      const parsed = schema.safeParse(input)
      return parsed.success ? { input: parsed.data as JsonObject } : { error: describeIssue(parsed.error, input) }
    },
    // `check` has made the input what the schema says.
    ...(run && { run: (input: JsonObject, context: MainContext) => run(input as z.output<z.ZodObject<Shape>>, context) }),
  }
}

function jsonSchemaOf(schema: z.ZodObject, shown?: readonly string[]): JsonObject {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'input' })
  const whole = JSON.parse(JSON.stringify(json)) as JsonObject
  const fields = whole['properties']
  if (shown === undefined || !isObject(fields)) return whole
  return { ...whole, properties: Object.fromEntries(shown.map((name) => [name, fields[name]])) }
}

function describeIssue(error: z.ZodError, input: Json): string {
  const issue = error.issues[0]
  if (!issue) return 'the input does not fit the schema'
  if (issue.path.length === 0) return isObject(input) ? issue.message : `the input must be a JSON object, not ${describe(input)}`
  const field = issue.path.join('.')
  if (issue.code === 'invalid_type' && valueAt(input, issue.path) === undefined) return `${field} is required (${issue.expected})`
  return `${field}: ${issue.message.replace(/^Invalid input: /, '')}`
}

const describe = (input: Json): string => (input === null ? 'null' : Array.isArray(input) ? 'a list' : `${typeof input} ${JSON.stringify(input).slice(0, 60)}`)

const valueAt = (input: Json, path: readonly PropertyKey[]): Json | undefined => {
  let value: Json | undefined = input
  for (const key of path) value = isObject(value) ? value[String(key)] : undefined
  return value
}
