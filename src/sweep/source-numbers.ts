import { isObject } from '../core/json.ts'

/** A number as it was written: `JSON.stringify` gives the same characters back. */
type RawNumber = { readonly rawJSON: string }

// TypeScript's library does not know them yet; Node has both since 21.
type SourceJson = {
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): RawNumber
}
const json = JSON as unknown as SourceJson

/**
 * Parses JSON and keeps its numbers as they were written, which a number of JavaScript cannot: `12345678901234567890`, `1.0` and `1e400` come
 * back from `JSON.stringify` unchanged. Throws SyntaxError for what is no JSON, and for an object with one key twice, of which only the
 * last would be left.
 */
export function parseKeepingNumbers(text: string): unknown {
  let keys = 0
  const value = json.parse(text, function (_key, inner, { source }) {
    // Called once more at the end, for the whole, which stands in an object under the key ''.
    if (isObject(this)) keys += 1
    return typeof inner === 'number' && source !== undefined ? json.rawJSON(source) : inner
  })
  if (keysWritten(text) > keys - 1) throw new SyntaxError('an object has the same key twice')
  return value
}

/** How many keys stand in a text of JSON: strings with a colon behind them. */
function keysWritten(text: string): number {
  let keys = 0
  for (const [string] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?/g)) if (string.endsWith(':')) keys += 1
  return keys
}
