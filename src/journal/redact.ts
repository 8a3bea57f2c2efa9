import { isObject } from '../core/json.ts'
import { MIN_SECRET_CHARS } from '../core/secrets.ts'

/** What stands in the journal where a secret stood. */
export const REDACTED = '[redacted]'

/** How often JSON inside JSON inside JSON may have escaped a secret's quotes and backslashes, and it is still found. */
const ESCAPE_LEVELS = 4

/** Takes secrets out of one JSON text (JRN-08). Returns the same text when there are none, so that the usual case costs one scan each. */
export type Redact = (json: string) => string

export function redactor(secrets: readonly string[]): Redact {
  const real = secrets.filter(({ length }) => length >= MIN_SECRET_CHARS)
  // Longest first: a shorter spelling may be a part of a longer one.
  const values = [...new Set(real.flatMap(spellings))].toSorted((a, b) => b.length - a.length)
  if (values.length === 0) return (json) => json
  const escaped = [...new Set(values.map(escape))]
  // Inside JSON a secret can only be replaced value by value: in the text it may begin in the middle of an escape such as `\n`.
  return (json) => (escaped.some((value) => json.includes(value)) ? JSON.stringify(clean(JSON.parse(json), values)) : json)
}

/** The same for a list that may be replaced by another one: it is asked for each time. */
export function liveRedactor(secrets: readonly string[] | (() => readonly string[])): Redact {
  if (typeof secrets !== 'function') return redactor(secrets)
  let known = secrets()
  let redact = redactor(known)
  return (json) => {
    const now = secrets()
    if (now !== known) {
      known = now
      redact = redactor(now)
    }
    return redact(json)
  }
}

/** A secret as it is, as it stands in an address, and as it stands in JSON within a string. */
function spellings(secret: string): readonly string[] {
  const all = [secret, encodeURIComponent(secret.toWellFormed())]
  for (let level = 1, text = secret; level <= ESCAPE_LEVELS; level += 1) {
    text = escape(text)
    all.push(text)
  }
  return all
}

const escape = (text: string): string => JSON.stringify(text).slice(1, -1)

function clean(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return cleanText(value, secrets)
  if (Array.isArray(value)) return value.map((item) => clean(item, secrets))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key, secrets), clean(inner, secrets)]))
}

const cleanText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
