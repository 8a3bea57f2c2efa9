import type { GrepInput } from './inputs.ts'
import type { Hit } from './line-search.ts'
import type { Piece } from './text-pieces.ts'

/** TOO-05. `before`: characters shown ahead of a match in a line too long to show whole. */
export const GREP_LIMITS = { matches: 250, maxMatches: 10_000, lineChars: 500, before: 100, seconds: 10 } as const

/** A line that matches. `column` is where the match begins, 1-based; `before` and `after` are there when context was asked for. */
export type Match = {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly text: string
  readonly before?: readonly string[]
  readonly after?: readonly string[]
}

export type FileCount = { readonly path: string; count: number }

/** What a search found, one page of it: filled while it runs, and good at any moment, because a watchdog may end the search. */
export class GrepFindings {
  readonly mode: 'lines' | 'files' | 'count'
  readonly matches: Match[] = []
  readonly counts: FileCount[] = []
  /** There is more after this page. */
  more = false
  /** The search ran out of time. */
  stopped = false
  filesSearched = 0
  binaries = 0
  readonly #offset: number
  readonly #last: number
  readonly #context: number
  #seen = 0

  constructor({ mode = 'lines', offset = 0, limit = GREP_LIMITS.matches, context = 0 }: Omit<GrepInput, 'pattern'>) {
    this.mode = mode
    this.#offset = offset
    this.#last = offset + Math.min(limit, GREP_LIMITS.maxMatches)
    this.#context = context
  }

  get nextOffset(): number {
    return this.#last
  }

  /** Takes a matching line; returns whether this file has to be searched further. */
  take(path: string, { text, firstLine }: Piece, hit: Hit): boolean {
    if (this.mode === 'lines') return this.#takeLine(path, text, firstLine, hit)
    const last = this.counts.at(-1)
    if (last?.path === path) last.count += 1
    else if (!this.#isOnPage()) return this.mode === 'count' && !this.more
    else this.counts.push({ path, count: 1 })
    return this.mode === 'count'
  }

  #takeLine(path: string, text: string, firstLine: number, { line, start, end, column }: Hit): boolean {
    if (!this.#isOnPage()) return !this.more
    const match = { path, line: firstLine + line - 1, column: column + 1, text: clip(text.slice(start, end), column) }
    this.matches.push(this.#context === 0 ? match : { ...match, ...around(text, start, end, this.#context) })
    return true
  }

  #isOnPage(): boolean {
    this.#seen += 1
    this.more = this.#seen > this.#last
    return this.#seen > this.#offset && !this.more
  }
}

/** The lines before and after the one from `start` to `end`, up to `count` of each. */
function around(text: string, start: number, end: number, count: number): Required<Pick<Match, 'before' | 'after'>> {
  let from = start
  for (let left = count; left > 0 && from > 0; left -= 1) from = from === 1 ? 0 : text.lastIndexOf('\n', from - 2) + 1
  let to = end
  for (let left = count; left > 0 && to + 1 < text.length; left -= 1) {
    const newline = text.indexOf('\n', to + 1)
    to = newline < 0 ? text.length : newline
  }
  const lines = (from_: number, to_: number) => (to_ < from_ ? [] : text.slice(from_, to_).split('\n').map((line) => clip(line, 0)))
  return { before: lines(from, start - 1), after: lines(end + 1, to) }
}

/** At most 500 characters of a line, those around its match. */
function clip(line: string, column: number): string {
  if (line.length <= GREP_LIMITS.lineChars) return line
  const from = Math.max(0, Math.min(column - GREP_LIMITS.before, line.length - GREP_LIMITS.lineChars))
  const to = from + GREP_LIMITS.lineChars
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}
