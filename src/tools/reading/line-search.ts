import { analysePattern } from './one-line-pattern.ts'
import type { PatternFacts } from './one-line-pattern.ts'

/** A line that matches: its number (1-based), where it lies in the text, and where in the line the match begins. */
export type Hit = { readonly line: number; readonly start: number; readonly end: number; readonly column: number }

/** Steps a match may take at worst before it runs under a watchdog: about a tenth of a second. */
const UNWATCHED_STEPS = 20_000_000

/** Whether a text holds what ends a line for a regular expression, but not for us. Three plain searches beat one pattern by far. */
const hasOtherLineEnds = (text: string): boolean => text.includes('\r') || text.includes('\u2028') || text.includes('\u2029')

/**
 * Finds the lines of a text that a JavaScript regular expression matches. Each line stands alone: `^` and `$` are its ends and nothing
 * matches across lines; a carriage return at its end does not belong to it.
 */
export class LineSearch {
  readonly #line: RegExp
  readonly #whole: RegExp | null
  readonly #facts: PatternFacts

  /** Throws `pattern is not a valid regular expression: …`. */
  constructor(pattern: string, ignoreCase: boolean) {
    const unicode = /\\[pP]\{|\\u\{/.test(pattern) && compiles(pattern)
    const flags = (ignoreCase ? 'i' : '') + (unicode ? 'u' : '')
    try {
      this.#line = new RegExp(pattern, flags)
    } catch (error) {
      throw new Error(`pattern is not a valid regular expression: ${error instanceof Error ? error.message : pattern}`, { cause: error })
    }
    this.#facts = analysePattern(pattern, unicode)
    this.#whole = this.#facts.whole === null || (unicode && ignoreCase) ? null : new RegExp(this.#facts.whole, `gm${flags}`)
  }

  /** Whether a search of this text cannot take long, however it goes. */
  isQuickOn(text: string): boolean {
    const { branches, repeats } = this.#facts
    if (repeats > 3 || branches > 16) return false
    const length = this.#whole === null || repeats > 0 ? longestLine(text) : 1
    return text.length * 2 ** branches * length ** repeats <= UNWATCHED_STEPS
  }

  /** Text as this search wants it: lines end in a bare newline. */
  static normalise(text: string): string {
    return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
  }

  /** Calls `onHit` for each matching line of a normalised text, in order, until it returns false. */
  run(text: string, onHit: (hit: Hit) => boolean): void {
    if (this.#whole === null || hasOtherLineEnds(text)) this.#byLine(text, onHit)
    else this.#atOnce(this.#whole, text, onHit)
  }

  #atOnce(whole: RegExp, text: string, onHit: (hit: Hit) => boolean): void {
    let line = 1
    let counted = 0
    whole.lastIndex = 0
    for (let match = whole.exec(text); match !== null; match = whole.exec(text)) {
      const start = match.index === 0 ? 0 : text.lastIndexOf('\n', match.index - 1) + 1
      if (start === text.length) return
      for (let newline = text.indexOf('\n', counted); newline >= 0 && newline < start; newline = text.indexOf('\n', counted)) {
        line += 1
        counted = newline + 1
      }
      const end = endOfLine(text, match.index)
      if (!onHit({ line, start, end, column: match.index - start })) return
      whole.lastIndex = end + 1
      if (end + 1 >= text.length) return
    }
  }

  #byLine(text: string, onHit: (hit: Hit) => boolean): void {
    let line = 1
    for (let start = 0; start < text.length; line += 1) {
      const end = endOfLine(text, start)
      const match = this.#line.exec(text.slice(start, end))
      if (match !== null && !onHit({ line, start, end, column: match.index })) return
      start = end + 1
    }
  }
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false // meant without the flag `u`: there `\p` is a plain letter
  }
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline < 0 ? text.length : newline
}

function longestLine(text: string): number {
  let longest = 1
  for (let start = 0; start < text.length;) {
    const end = endOfLine(text, start)
    longest = Math.max(longest, end - start)
    start = end + 1
  }
  return longest
}
