import type { JsonObject } from '../../core/json.ts'
import type { ScriptedReply, ScriptedWire } from './wire.ts'

/**
 * How a harness names what the script calls. `{i}` in a delegation's input is the number of the child, `{prompt}` its prompt, and `{file}` in a
 * read's the file of the turn.
 */
export type Dialect = { readonly delegate: Template; readonly read: Template }
type Template = { readonly name: string; readonly input: JsonObject }

/** `files`: one is read in each turn of a child, in this order. `latencyMs`: between a request and its reply. */
export type FanOut = { readonly latencyMs: number; readonly files: readonly string[]; readonly dialect: Dialect }

/** Cadre's own names. */
export const CADRE_DIALECT: Dialect = {
  delegate: { name: 'agent', input: { description: 'part {i}', prompt: '{prompt}', subagent_type: 'explorer' } },
  read: { name: 'read', input: { path: '{file}' } },
}

/** What the user asks for: so many sub-agents; 0 is a run of one turn. */
export const parentPrompt = (children: number): string => `[bench parent ${children}]`
const childPrompt = (i: number): string => `[bench child ${i}]`

/** Who asks: the parent of so many, or a child. Null: a request besides the fan-out, such as for a title. */
export type Asker = { readonly kind: 'parent'; readonly children: number } | { readonly kind: 'child' } | null

/**
 * The parent's requests hold the children's prompts too. Whoever is not offered the tool that the script would call asks for something else, such
 * as a title.
 */
export function askerOf(body: string, { delegate, read }: Dialect): Asker {
  const children = /\[bench parent (\d+)\]/.exec(body)?.[1]
  if (children !== undefined) return Number(children) === 0 || offers(body, delegate) ? { kind: 'parent', children: Number(children) } : null
  return body.includes('[bench child ') && offers(body, read) ? { kind: 'child' } : null
}

const offers = (body: string, { name }: Template): boolean => body.includes(`"name":"${name}"`)

/** The replies of a fan-out: the parent delegates once and then answers; each child reads its files one by one and then answers. */
export function fanOutReply(asker: Asker, results: number, { files, dialect: { delegate, read } }: FanOut): ScriptedReply {
  if (asker === null) return { id: 'other', text: 'ok', calls: [] }
  const id = `${asker.kind}_${results}`
  if (asker.kind === 'child') {
    const file = files[results]
    if (file === undefined) return { id, text: 'The files are as expected.', calls: [] }
    return { id, text: '', calls: [{ id: `toolu_read_${results}`, name: read.name, input: filled(read.input, { file }) }] }
  }
  if (asker.children === 0 || results > 0) return { id, text: 'All parts are done.', calls: [] }
  const calls = Array.from({ length: asker.children }, (_, i) =>
    ({ id: `toolu_part_${i}`, name: delegate.name, input: filled(delegate.input, { i: String(i), prompt: childPrompt(i) }) }))
  return { id, text: '', calls }
}

/** How many tool results a request hands in. */
export function resultsIn(body: string, { result }: ScriptedWire): number {
  let count = 0
  for (let at = body.indexOf(result); at >= 0; at = body.indexOf(result, at + result.length)) count += 1
  return count
}

const filled = (input: JsonObject, values: Readonly<Record<string, string>>): JsonObject =>
  JSON.parse(JSON.stringify(input).replaceAll(/\{(\w+)\}/g, (whole, name: string) => escaped(values[name] ?? whole))) as JsonObject

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
