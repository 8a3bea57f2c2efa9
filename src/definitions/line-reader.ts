import { fieldOf, respelled } from './field-names.ts'
import type { RawField, ReadYaml } from './raw-field.ts'
import { PROSE_FIELDS } from './raw-field.ts'

/** A field as the line reader found it: the lines `[from, to)` of the frontmatter, counted from 0, and the comments right below its key. */
export type LineField = RawField & { readonly from: number; readonly to: number; readonly comments: readonly string[] }

/** What people write before a colon inside a description. Words with a capital are taken for prose as well: no field has one. */
const SPEAKERS: ReadonlySet<string> = new Set(['user', 'human', 'assistant', 'commentary', 'example'])

const KEY = /^(?:"([^"]+)"|'([^']+)'|([\p{L}_][\p{L}\p{N}_.-]*))\s*:(.*)$/u

/**
 * Reads a frontmatter that is not valid YAML line by line (TYP-03): each top-level `key: rest of line` is text; a list, map or block
 * scalar below a key, and a quoted or bracketed value, is parsed on its own where that works.
 */
export function readLines(frontmatter: string, readYaml: ReadYaml): readonly LineField[] {
  const lines = dedent(frontmatter.split('\n'))
  const starts = keyLines(lines)
  return starts.map(({ line, key, rest }, i) => {
    const to = starts[i + 1]?.line ?? lines.length
    const below = lines.slice(line + 1, to)
    const comments = opensText(rest) ? [] : leadingComments(below)
    const { value, text } = valueOf(key, rest, below.filter((other) => !comments.includes(other)), readYaml)
    return { key, line, value, text, cut: false, span: null, from: line, to, comments }
  })
}

/** Takes off what the first line is indented by, from all lines that have it. */
function dedent(lines: readonly string[]): readonly string[] {
  const indent = /^[ \t]*/.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0] ?? ''
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
}

type KeyLine = { readonly line: number; readonly key: string; readonly rest: string }

function keyLines(lines: readonly string[]): readonly KeyLine[] {
  const found: KeyLine[] = []
  const seen = new Set<string>()
  const lastClose = lines.findLastIndex((line) => line.includes('</example'))
  let inExample = false
  let continued = false
  for (const [line, text] of lines.entries()) {
    const current = found.at(-1)
    const prose = current !== undefined && PROSE_FIELDS.has(current.key)
    const start = inExample ? undefined : keyOf(text)
    if (start && (!prose || isKeyInProse(start.key, seen, continued))) {
      found.push({ line, ...start })
      seen.add(start.key)
      continued = false
    } else if (text.trim() !== '' && (continued || !isComment(text))) continued = true
    if (!continued && isComment(text)) continue
    const now = found.at(-1)
    inExample = now !== undefined && PROSE_FIELDS.has(now.key) && exampleOpen(text, inExample) && line < lastClose
  }
  return found
}

/** `key: rest`; a known field also without the space. */
function keyOf(text: string): { readonly key: string; readonly rest: string } | undefined {
  const match = KEY.exec(text)
  const key = match?.[1] ?? match?.[2] ?? match?.[3]
  const rest = match?.[4] ?? ''
  return key !== undefined && (rest === '' || /^\s/.test(rest) || fieldOf(key)) ? { key, rest: rest.trim() } : undefined
}

/** Inside a description: a known field not yet given ends it; any other `word:` ends it only where no prose has gone on below the key. */
const isKeyInProse = (key: string, seen: ReadonlySet<string>, continued: boolean): boolean =>
  fieldOf(key) !== undefined || key === 'experimental'
    ? !seen.has(key) || !continued
    : !continued && (respelled(key) !== undefined || !isSpeech(key))

const isSpeech = (key: string): boolean => SPEAKERS.has(key) || /^\p{Lu}/u.test(key)

/** Whether an `<example>` is open after this line. */
function exampleOpen(text: string, before: boolean): boolean {
  const opened = text.lastIndexOf('<example')
  const closed = text.lastIndexOf('</example')
  return opened === -1 && closed === -1 ? before : opened > closed
}

type Value = { readonly value: unknown; readonly text: string | null }

/** Whether what follows below is text to the letter: a block scalar, or a quote still open. */
const opensText = (rest: string): boolean => /^(?:[|>]|"(?:[^"]|.*[^"])?$|'(?:[^']|.*[^'])?$)/.test(rest)

const isComment = (line: string): boolean => /^\s*#/.test(line)

/** The comments right below a key; further down, a line with `#` may be a heading of someone's prose. */
const leadingComments = (below: readonly string[]): readonly string[] => {
  const text = below.findIndex((line) => line.trim() !== '' && !isComment(line))
  return below.slice(0, text === -1 ? below.length : text).filter(isComment)
}

function valueOf(key: string, rest: string, below: readonly string[], readYaml: ReadYaml): Value {
  const tail = below.slice(0, below.findLastIndex((line) => line.trim() !== '') + 1)
  if (tail.length === 0) return PROSE_FIELDS.has(key) || key === 'name' ? proseLine(rest, readYaml) : plainLine(rest, readYaml)
  const block = rest === '' || /^[|>][-+0-9]*$/.test(rest)
  const own = alone(rest, tail.map(block ? untab : (line) => line), readYaml)
  if (own && (typeof own.value === 'string' || !PROSE_FIELDS.has(key))) return own
  const indented = tail.every((line) => line.trim() === '' || /^\s/.test(line))
  if (!block && PROSE_FIELDS.has(key) && indented) return textValue(unwrap(fold([rest, ...tail])))
  // A line with a colon that is no field's is not the rest of a list either.
  if (!block && !PROSE_FIELDS.has(key)) {
    return textValue(unwrap(fold([rest, ...tail.filter((line) => /^\s/.test(line) || !line.includes(': '))])))
  }
  if (rest === '' && !PROSE_FIELDS.has(key) && tail.every((line) => line.trim() === '' || /^\s*- /.test(line))) {
    return { value: tail.flatMap(listItem), text: null }
  }
  if (!block) return textValue(unwrap([rest, ...dedent(tail)].join('\n').trim()))
  return textValue(rest.startsWith('>') ? fold(tail) : dedent(tail).join('\n').trim())
}

/** The value parsed as YAML of its own, if it is valid. */
function alone(rest: string, tail: readonly string[], readYaml: ReadYaml): Value | undefined {
  const reading = readYaml(`v: ${rest}\n${tail.join('\n')}\n`)
  const [field, ...more] = reading.ok ? reading.fields : []
  return field && more.length === 0 && field.value !== undefined ? field : undefined
}

/** Prose on one line: verbatim, a `\n` written in it included, but without the quotes around the whole. */
function proseLine(rest: string, readYaml: ReadYaml): Value {
  const quoted = /^["']/.test(rest) ? alone(rest, [], readYaml) : undefined
  return typeof quoted?.value === 'string' ? quoted : textValue(unwrap(rest))
}

/** Any other value on one line: a comment after it is none of it. */
function plainLine(rest: string, readYaml: ReadYaml): Value {
  const own = /^["'[{]/.test(rest) ? alone(rest, [], readYaml) : undefined
  return own ?? textValue(rest.replace(/(^|\s)#.*$/, '').trim())
}

const textValue = (text: string): Value =>
  (text === '' || text === '~' || text === 'null' ? { value: null, text: null } : { value: text, text })

/** As YAML folds a plain scalar: lines joined by a space, blank lines as line breaks. */
const fold = (lines: readonly string[]): string =>
  lines.map((line) => line.trim()).join('\n').replaceAll(/\n+/g, (breaks) => '\n'.repeat(breaks.length - 1) || ' ').trim()

const untab = (line: string): string => line.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length))

const listItem = (line: string): readonly string[] => {
  const item = line.trim().replace(/^- /, '').replace(/\s#.*$/, '').trim()
  return item === '' ? [] : [unwrap(item)]
}

/**
 * Takes the quotes off a value that was meant to be quoted but holds its own quote unescaped: `"says "hi" to"`. A first inner quote that
 * closes a word (`"a" and "b"`) shows that the outer ones belong to the text.
 */
function unwrap(text: string): string {
  const quote = text[0]
  if ((quote !== '"' && quote !== '\'') || text.length < 2 || !text.endsWith(quote)) return text
  const inner = text.slice(1, -1)
  const closesWord = new RegExp(`^(?:\\\\.|[^${quote}\\\\]|(?<=\\p{L})${quote}(?=\\p{L}))*(?<=\\S)(?<!\\()${quote}(?=[\\s.,;:)!?]|$)`, 'u')
  if (closesWord.test(inner)) return text
  return quote === '"' ? inner.replaceAll(/\\(["\\n])/g, (_, char: string) => (char === 'n' ? '\n' : char)) : inner.replaceAll('\'\'', '\'')
}
