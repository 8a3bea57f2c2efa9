import { readFileSync, statSync } from 'node:fs'
import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import { keyLines } from './key-lines.ts'

/** A settings file is small; anything larger is not one. */
const MOST_BYTES = 1_000_000

/** The content of one settings file, and the line of each key. */
export type SettingsDocument = { readonly value: JsonObject; lineOf(path: readonly string[]): number }

type Read = { readonly document: SettingsDocument } | { readonly problem: Diagnostic } | null

/** Reads a settings file: null when there is none. What cannot be used is a problem, never thrown, and quotes nothing of the file. */
export function readDocument(file: string): Read {
  let text: string
  try {
    const facts = statSync(file, { throwIfNoEntry: false })
    if (!facts) return null
    if (!facts.isFile()) return problem(file, 1, 'settings must be a regular file')
    if (facts.size > MOST_BYTES) return problem(file, 1, `settings are larger than ${MOST_BYTES} bytes`)
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    return problem(file, 1, `settings cannot be read (${messageOf(error)})`)
  }
  if (text.trim() === '') return { document: { value: {}, lineOf: () => 1 } }
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return problem(file, 1, 'settings must be one JSON object')
    return { document: { value, lineOf: keyLines(text) } }
  } catch (error) {
    return problem(file, lineOfError(messageOf(error), text), 'settings are not JSON')
  }
}

/** The line V8 names; the first token it does not expect it quotes without a place; an end that comes too early is on the last line. */
function lineOfError(message: string, text: string): number {
  const last = text.trimEnd().split('\n').length
  const named = /\(line (\d+) column \d+\)/.exec(message)?.[1]
  if (named !== undefined) return Math.min(Number(named), last)
  return message.startsWith(UNEXPECTED) ? text.slice(0, firstUnexpected(text)).split('\n').length : last
}

const UNEXPECTED = 'Unexpected token'

/** How long the shortest beginning of `text` is that already has the unexpected token; every longer one has it too. */
function firstUnexpected(text: string): number {
  let without = 0
  let withToken = text.length
  while (withToken - without > 1) {
    const middle = Math.floor((without + withToken) / 2)
    if (errorOf(text.slice(0, middle)).startsWith(UNEXPECTED)) withToken = middle
    else without = middle
  }
  return withToken
}

function errorOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return messageOf(error)
  }
}

const problem = (path: string, line: number, message: string): Read => ({ problem: { path, line, severity: 'error', message, remedy: '' } })
