import * as z from 'zod'
import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { joinBrackets, listEntries } from './list-entries.ts'

/** Fields with a fixed set of values. */
const FIELD_VALUES = {
  permissionMode: ['default', 'acceptEdits', 'auto', 'dontAsk', 'plan', 'bypassPermissions', 'manual', 'build', 'explore', 'danger'],
  memory: ['user', 'project', 'local'],
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
  isolation: ['worktree'],
  color: ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'],
  mode: ['explore', 'build'],
  cacheTtl: ['5m', '1h'],
} as const

/** Other names of permission modes (PRM-01). */
const MODE_SYNONYMS = { manual: 'default', build: 'default', explore: 'plan', danger: 'bypassPermissions' } as const

const text = z.string().trim().min(1)
const flag = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })])
const numeral = z.union([z.number(), z.string().trim().regex(/^[+-]?\d+(\.\d+)?$/).transform(Number)])
const count = numeral.pipe(z.int().min(1))
const seconds = numeral.pipe(z.number().positive())
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const list = z.union([scalar.transform(listEntries), z.array(scalar).transform((items) => joinBrackets(items).flatMap(listEntries))])
const map = z.custom<JsonObject>(isObject)

const synonym = (mode: string): mode is keyof typeof MODE_SYNONYMS => Object.hasOwn(MODE_SYNONYMS, mode)

/** Hooks in Claude Code's shape (PRM-11): event → matchers → commands or URLs. */
const hooks = z.record(z.string(), z.array(z.looseObject({
  matcher: z.string().optional(),
  hooks: z.array(z.looseObject({ type: z.string(), command: z.string().optional(), url: z.string().optional() })),
})))

const server = z.record(z.string(), z.looseObject({}))
const servers = z.union([server, z.array(z.union([z.string(), server])), z.string()])

/**
 * Every field an agent file may have (TYP-09, TYP-10), at the door: a value that passes has the type the rest of Cadre trusts. Values come
 * in as plain JSON or, from the line reader, as text.
 */
export const agentFields = z.object({
  name: text.exactOptional(),
  description: text.exactOptional(),
  tools: list.exactOptional(),
  disallowedTools: list.exactOptional(),
  model: text.exactOptional(),
  permissionMode: z.enum(FIELD_VALUES.permissionMode).transform((mode) => (synonym(mode) ? MODE_SYNONYMS[mode] : mode)).exactOptional(),
  maxTurns: count.exactOptional(),
  skills: list.exactOptional(),
  mcpServers: z.custom<Json>((value) => servers.safeParse(value).success).exactOptional(),
  hooks: z.custom<JsonObject>((value) => hooks.safeParse(value).success).exactOptional(),
  memory: z.enum(FIELD_VALUES.memory).exactOptional(),
  background: flag.exactOptional(),
  effort: z.union([z.enum(FIELD_VALUES.effort), numeral.pipe(z.int())]).exactOptional(),
  isolation: z.enum(FIELD_VALUES.isolation).exactOptional(),
  color: z.enum(FIELD_VALUES.color).exactOptional(),
  initialPrompt: text.exactOptional(),
  cacheTtl: z.enum(FIELD_VALUES.cacheTtl).exactOptional(),
  omitClaudeMd: flag.exactOptional(),
  mode: z.enum(FIELD_VALUES.mode).exactOptional(),
  readOnly: flag.exactOptional(),
  timeout: seconds.exactOptional(),
  expectedDuration: seconds.exactOptional(),
  outputSchema: map.exactOptional(),
  autoCompactWindow: count.exactOptional(),
})

export type AgentFields = z.output<typeof agentFields>

export type FieldName = keyof typeof agentFields.shape

const MODEL_WORDS: readonly string[] = ['inherit', 'script', 'sonnet', 'opus', 'haiku', 'fable']

const fixedValues: Partial<Record<FieldName, readonly string[]>> = { ...FIELD_VALUES, model: MODEL_WORDS }

/** The values of a field whose case is known, models' short names included; empty for a field of free text. */
export const knownValues = (field: FieldName): readonly string[] => fixedValues[field] ?? []

const byField: Readonly<Record<FieldName, z.ZodType>> = agentFields.shape

/** Whether a value is one the field may have. */
export const fits = (field: FieldName, value: unknown): boolean => byField[field].safeParse(value).success

const oneOf = (values: readonly string[]): string => `one of ${values.join(', ')}`

/** What a field must be, as `field "<f>" must be <this>` says it (TYP-12). */
export const FIELD_MUST_BE: Readonly<Record<FieldName, string>> = {
  name: 'text',
  description: 'text',
  tools: 'a comma string or a list of tool names',
  disallowedTools: 'a comma string or a list of tool names',
  model: 'text',
  permissionMode: oneOf(FIELD_VALUES.permissionMode),
  maxTurns: 'an integer of at least 1',
  skills: 'a comma string or a list of names',
  mcpServers: 'a list of server names, or a map of names to servers',
  hooks: 'a map of events to lists of {matcher, hooks: [{type, command}]}',
  memory: oneOf(FIELD_VALUES.memory),
  background: 'true or false',
  effort: `${oneOf(FIELD_VALUES.effort)} or an integer`,
  isolation: '"worktree"',
  color: oneOf(FIELD_VALUES.color),
  initialPrompt: 'text',
  cacheTtl: oneOf(FIELD_VALUES.cacheTtl),
  omitClaudeMd: 'true or false',
  mode: oneOf(FIELD_VALUES.mode),
  readOnly: 'true or false',
  timeout: 'a number of seconds above 0',
  expectedDuration: 'a number of seconds above 0',
  outputSchema: 'a map (a JSON Schema)',
  autoCompactWindow: 'a number of tokens, an integer of at least 1',
}
