import { CadreError } from '../core/errors.ts'
import type { SweepItem } from './contract.ts'

/** The name under which every item is known to a template, whatever its columns. */
const ITEM = 'item'

/** An escaped brace, a run of two or more (never a placeholder), or braces around a name. */
const BRACES = /\\\{|\{{2,}|(?<!\$)\{([^{}\n]+)\}/g
const LOOKS_LIKE_A_NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u

export type Template = {
  /** Names it fills in, as written; empty for a prompt that is the same for every item. */
  readonly names: readonly string[]
  /** The prompt for one item. Throws USAGE for an item without one of the columns. */
  forItem(item: SweepItem): string
}

/**
 * Reads `{item}` and `{<column>}` out of a prompt (CMD-05). A column called `item` is that column. All other braces stay as they are, so
 * JSON and code may stand in a prompt; but a lone `{word}` that names no column is a slip: USAGE, naming the columns. `\{` is a brace.
 */
export function parseTemplate(prompt: string, columns: readonly string[]): Template {
  const known = new Set([ITEM, ...columns])
  const parts: (string | { readonly name: string })[] = []
  const unknown = new Set<string>()
  let from = 0
  for (const match of prompt.matchAll(BRACES)) {
    const [written, name] = match
    const isKnown = name !== undefined && known.has(name)
    if (name !== undefined && !isKnown && LOOKS_LIKE_A_NAME.test(name)) unknown.add(name)
    parts.push(prompt.slice(from, match.index), isKnown ? { name } : written === '\\{' ? '{' : written)
    from = match.index + written.length
  }
  parts.push(prompt.slice(from))
  if (unknown.size > 0) throw unknownColumn([...unknown], [...known])

  const names = [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))]
  return { names, forItem: (item) => parts.map((part) => (typeof part === 'string' ? part : valueOf(item, part.name))).join('') }
}

function valueOf({ item, columns }: SweepItem, name: string): string {
  const value = Object.hasOwn(columns, name) ? columns[name] : name === ITEM ? item : undefined
  if (value !== undefined) return value
  const message = `The prompt uses {${name}}, but this row has no such column: ${item}. Add it to the row, or leave the row out.`
  throw new CadreError('USAGE', message)
}

const unknownColumn = (unknown: readonly string[], known: readonly string[]) =>
  new CadreError(
    'USAGE',
    `The prompt uses ${list(unknown)}, which ${unknown.length > 1 ? 'are no columns' : 'is no column'} of the items. ` +
      `It can use: ${list(known)}. Write \\{${unknown[0] ?? ''}} for the text itself.`,
  )

const list = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ')
