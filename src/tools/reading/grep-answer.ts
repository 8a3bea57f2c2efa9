import { display } from './confine.ts'
import { GREP_LIMITS } from './grep-findings.ts'
import type { FileCount, GrepFindings, Match } from './grep-findings.ts'
import type { LeftOut } from './walk.ts'

/** The findings as JSON for a program. */
export function grepData({ mode, matches, counts, filesSearched, binaries, more, stopped }: GrepFindings, leftOut: LeftOut): string {
  const found = mode === 'lines'
    ? { matches, files: filesSearched }
    : mode === 'files' ? { files: counts.map(({ path }) => path) } : { counts }
  return JSON.stringify({ ...found, more, binaries, ...leftOut, stopped })
}

/** The findings as text for a language model: a heading per file, one numbered line per match. */
export function grepText(findings: GrepFindings, leftOut: readonly string[]): string {
  const { mode, matches, counts, more, stopped, binaries, nextOffset } = findings
  const countLine = ({ path, count }: FileCount) => (mode === 'files' ? display(path) : `${display(path)}: ${count}`)
  const found = mode === 'lines' ? matchLines(matches) : counts.map(countLine)
  return [
    ...(found.length === 0 && !stopped ? ['No matches.'] : found),
    ...(more ? [`[more: offset=${nextOffset}]`] : []),
    ...(binaries > 0 ? [`[${binaries} binary ${binaries === 1 ? 'file' : 'files'} not searched]`] : []),
    ...leftOut,
    ...(stopped ? [`Search stopped after ${GREP_LIMITS.seconds} s; narrow path or pattern.`] : []),
  ].join('\n')
}

function matchLines(matches: readonly Match[]): readonly string[] {
  const lines: string[] = []
  let path: string | null = null
  let last = 0
  for (const [index, match] of matches.entries()) {
    const { line, text, before = [], after = [] } = match
    if (match.path !== path) {
      lines.push(display(match.path))
      path = match.path
      last = 0
    }
    const context = before.map((each, at) => ({ line: line - before.length + at, each })).filter((each) => each.line > last)
    if (match.before !== undefined && last > 0 && (context[0]?.line ?? line) > last + 1) lines.push('--')
    lines.push(...context.map((each) => `${each.line}-${each.each}`), `${line}:${text}`)
    last = line
    const next = matches[index + 1]
    for (const each of after) {
      if (next?.path === path && next.line <= last + 1) break
      last += 1
      lines.push(`${last}-${each}`)
    }
  }
  return lines
}
