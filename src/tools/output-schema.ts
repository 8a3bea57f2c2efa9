import { z } from 'zod'
import { CadreError, messageOf } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { finishesWithin } from './reading/watchdog.ts'

/** Schema and answer may both be written by a model, and a pattern can be made to run for ever: the check holds up the main thread no longer. */
const CHECK_MS = 500

type Checked = { readonly value: Json } | { readonly errors: string }

/**
 * A check of a last reply against a JSON Schema (AGT-10): the value, or what is wrong with it in one line. JSON inside one Markdown fence
 * counts as JSON. Throws CadreError USAGE for a schema that is none.
 */
export function outputCheck(schema: JsonObject): (text: string) => Checked {
  const validator = compile(schema)
  return (text) => {
    let checked: Checked = { errors: `checking it took longer than ${CHECK_MS} ms; the schema's patterns are too costly for this answer` }
    finishesWithin(CHECK_MS, () => {
      checked = check(validator, text)
    })
    return checked
  }
}

function check(validator: z.ZodType, text: string): Checked {
  const parsed = parseJson(text)
  if (parsed === undefined) return { errors: 'it is not JSON' }
  const checked = parseWith(validator, parsed)
  if (checked === null) return { errors: 'it is nested too deep for its schema' }
  // The value is JSON by its origin; a schema with transforms cannot come out of JSON Schema.
  return checked.success ? { value: parsed } : { errors: checked.error.issues.slice(0, MAX_ISSUES).map(describe).join('; ') }
}

const MAX_ISSUES = 5

function compile(schema: JsonObject): z.ZodType {
  const refuse = (why: string, cause?: unknown) => new CadreError('USAGE', `The output schema is not a JSON Schema Cadre can use: ${why}. Correct it, or leave it out.`, { cause })
  let validator: z.ZodType
  try {
    validator = z.fromJSONSchema(schema)
  } catch (cause) {
    throw refuse(messageOf(cause), cause)
  }
  // One that refers to itself on the same value never comes to an end, whatever the value.
  if (parseWith(validator, null) === null) throw refuse('it refers to itself without end')
  return validator
}

/** Null: it ran out of stack. */
function parseWith(validator: z.ZodType, value: unknown): ReturnType<z.ZodType['safeParse']> | null {
  try {
    return validator.safeParse(value)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function parseJson(text: string): Json | undefined {
  const fenced = /^\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*$/s.exec(text)
  try {
    return JSON.parse(fenced?.[1] ?? text) as Json
  } catch {
    return undefined
  }
}

const describe = (issue: z.core.$ZodIssue): string => `${issue.path.join('.') || 'the value'}: ${issue.message}`
