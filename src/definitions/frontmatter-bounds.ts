/**
 * Characters of one frontmatter: real ones have a few KB, and the YAML parser's worst cases grow with the square of this. The longest run
 * of white space bounds what gray-matter's test for emptiness costs.
 */
const FRONTMATTER_LIMITS = { chars: 32_768, blanks: 1_000 }

/**
 * Where the frontmatter of a file is. `normal` is the file from its opening line on, with LF ends and both delimiter lines trimmed, and a
 * blank line after the closing one, because gray-matter takes one line break off the body. `firstLine` is the file's line (from 1) of the
 * first line after the opening one; `start` and `end` are the frontmatter's offsets in the text as given.
 */
export type Bounds =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly line: number; readonly remedy: string }
  | {
    readonly kind: 'found'
    readonly normal: string
    readonly opening: string
    readonly firstLine: number
    readonly bodyLine: number
    readonly start: number
    readonly end: number
  }

/** Finds the two `---` lines (TYP-01). The closing one is the first line that is `---` and nothing else. */
export function frontmatterBounds(text: string): Bounds {
  const open = /^\uFEFF?(?:[ \t]*\r?\n)*---([^\r\n]*)(?:\r?\n|$)/.exec(text)
  const opening = open?.[1]?.trim() ?? '-'
  // `----` and longer is a Markdown rule; words after the dashes are prose.
  if (!open || opening.startsWith('-') || /\s/.test(opening)) return { kind: 'none' }
  const start = open[0].length
  const firstLine = lines(open[0]) + 1
  const close = closing(text, start)
  if (!close) {
    if (opening === '' && !/^name[ \t]*:/m.test(text.slice(start, start + FRONTMATTER_LIMITS.chars))) return { kind: 'none' }
    if (opening === '') return { kind: 'unreadable', line: firstLine - 1, remedy: 'close it with a line `---`' }
  }
  const end = close?.from ?? text.length
  if (end - start > FRONTMATTER_LIMITS.chars || new RegExp(`\\s{${FRONTMATTER_LIMITS.blanks}}`).test(text.slice(start, end))) {
    const remedy = `keep it under ${FRONTMATTER_LIMITS.chars / 1_024} KB, without long stretches of white space`
    return { kind: 'unreadable', line: firstLine, remedy }
  }
  const inner = lf(text.slice(start, end))
  const frontmatter = inner === '' || inner.endsWith('\n') ? inner : `${inner}\n`
  const normal = `---${opening}\n${frontmatter}---\n\n${lf(text.slice(close?.to ?? text.length))}`
  return { kind: 'found', normal, opening, firstLine, bodyLine: firstLine + lines(text.slice(start, close?.to ?? end)), start, end }
}

function closing(text: string, start: number): { readonly from: number; readonly to: number } | null {
  const mark = /^---[ \t]*(?:\r?\n|$(?![\s\S]))/gm
  mark.lastIndex = start
  const match = mark.exec(text)
  return match ? { from: match.index, to: match.index + match[0].length } : null
}

const lines = (text: string): number => text.split('\n').length - 1
const lf = (text: string): string => text.replaceAll('\r\n', '\n')
