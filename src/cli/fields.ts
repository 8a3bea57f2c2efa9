import { cells } from './terminal-text.ts'
import type { Style } from './style.ts'
import { wrap } from './wrap.ts'

/** A name and what stands beside it; null leaves the line out. */
export type Field = readonly [name: string, text: string | null]

const INDENT = '  '

/** Names in one column, their texts wrapped beside them. */
export function renderFields(fields: readonly Field[], { paint, width }: Style): string {
  const shown = fields.flatMap(([name, text]) => (text === null ? [] : [{ name, text }]))
  const column = Math.max(0, ...shown.map(({ name }) => cells(name)))
  const beside = INDENT.length + column + INDENT.length
  return shown.map(({ name, text }) => {
    const [first = '', ...rest] = wrap(text, width - beside)
    const head = `${INDENT}${paint.dim(name)}${' '.repeat(column - cells(name))}${INDENT}${first}`.trimEnd()
    return [head, ...rest.map((line) => ' '.repeat(beside) + line)].map((line) => `${line}\n`).join('')
  }).join('')
}
