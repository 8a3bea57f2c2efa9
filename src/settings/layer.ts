import { z } from 'zod'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { nearest } from '../core/nearest.ts'
import { comesLater, LATER } from './later.ts'
import { SETTINGS } from './schema.ts'

/** One setting a layer makes, checked: `['limits', 'maxDepth']`, or an entry of a map, `['prices', 'openai/gpt-5']`. */
export type Entry = { readonly path: readonly string[]; readonly value: Json }

/** A layer as written. `name` is what diagnostics call it: its file, or the place in code. */
export type Layer = { readonly name: string; readonly value: JsonObject; lineOf(path: readonly string[]): number }

/** The name of a setting in messages: `limits.maxDepth`. */
export const nameOf = (path: readonly string[]): string => path.join('.')

export type Checked = { readonly entries: readonly Entry[]; readonly diagnostics: readonly Diagnostic[] }

/** What is usable of a layer, and a diagnostic for each thing that is not: an unknown key, a wrong value, a key of later (SET-02). */
export function checkLayer(layer: Layer): Checked {
  const entries: Entry[] = []
  const diagnostics: Diagnostic[] = []
  const report = (path: readonly string[], message: string, remedy: string) =>
    diagnostics.push({ path: layer.name, line: layer.lineOf(path), severity: 'warning', message, remedy })

  function visit(value: JsonObject, shape: Readonly<Record<string, z.core.$ZodType>>, above: readonly string[]): void {
    for (const [key, inner] of Object.entries(value)) {
      const path = [...above, key]
      const name = nameOf(path)
      const schema = Object.hasOwn(shape, key) ? shape[key] : undefined
      if (inner === undefined || (above.length === 0 && key === '$schema')) continue
      if (comesLater(name)) report(path, `"${name}" has no effect in this version`, '')
      else if (!schema) report(path, unknown(name, key), '')
      else if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) visitMap(inner, schema, path)
      else take(path, inner, schema)
    }
  }

  function visitMap(value: Json, schema: z.ZodObject | z.ZodRecord, path: readonly string[]): void {
    if (!isObject(value)) report(path, `field "${nameOf(path)}" must be a map`, 'ignored')
    else if (schema instanceof z.ZodObject) visit(value, schema.shape, path)
    else for (const [key, inner] of Object.entries(value)) if (inner !== undefined) take([...path, key], inner, schema.valueType)
  }

  function take(path: readonly string[], written: Json, schema: z.core.$ZodType): void {
    const value = schema instanceof z.ZodObject && isObject(written) ? checkFields(path, written, schema) : written
    if (value === null && written !== null) return
    const parsed = z.safeParse(schema, value)
    if (parsed.success) entries.push({ path, value: parsed.data as Json }) // every leaf of SETTINGS is JSON
    else report(path, `field "${nameOf(path)}" must be ${mustBe(schema)}`, 'ignored')
  }

  /** The known fields of an entry; null when one is wrong: half a provider could send a request to the wrong place. */
  function checkFields(path: readonly string[], value: JsonObject, { shape }: z.ZodObject): JsonObject | null {
    const known: [string, Json][] = []
    let wrong = false
    for (const [key, inner] of Object.entries(value)) {
      const field = [...path, key]
      const schema: unknown = Object.hasOwn(shape, key) ? shape[key] : undefined
      if (inner === undefined) continue
      if (!(schema instanceof z.ZodType)) {
        report(field, unknownField(nameOf(field), nearest(key, Object.keys(shape)), path), '')
      } else if (z.safeParse(schema, inner).success) {
        known.push([key, inner])
      } else {
        wrong = true
        report(field, `field "${nameOf(field)}" must be ${mustBe(schema)}`, `${nameOf(path)} is ignored`)
      }
    }
    return wrong ? null : Object.fromEntries(known)
  }

  visit(layer.value, SETTINGS.shape, [])
  return { entries, diagnostics }
}

function mustBe(schema: z.core.$ZodType): string {
  const described = z.globalRegistry.get(schema)?.description
  if (described === undefined && schema instanceof z.ZodExactOptional) return mustBe(schema.unwrap())
  return described ?? 'of another kind'
}

const KNOWN: readonly string[] = [
  ...Object.entries(SETTINGS.shape).flatMap(([key, schema]) =>
    schema instanceof z.ZodObject ? [key, ...Object.keys(schema.shape).map((inner) => `${key}.${inner}`)] : [key]),
  ...LATER,
]

/** TYP-12. A key in the wrong section is found by its own name. */
const unknown = (name: string, key: string): string =>
  unknownField(name, KNOWN.find((known) => known.toLowerCase().split('.').at(-1) === key.toLowerCase()) ?? nearest(name, KNOWN), [])

const unknownField = (name: string, near: string | undefined, above: readonly string[]): string =>
  `unknown field "${name}"${near === undefined ? '' : `, did you mean "${nameOf([...above, near])}"?`}`
