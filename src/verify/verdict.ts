export type VerifierVerdict = 'PASS' | 'FAIL' | 'PARTIAL'

const HEAD = /(?<![\p{L}\p{N}])VERDICT[*_`]*\s*:/giu
/** Marks of emphasis may stand around the word; nothing may be grown onto it. */
const WORD = /^[\s*_`]*(PASS|FAIL|PARTIAL)(?![-_/|]*[\p{L}\p{N}])/iu
const DOUBT = /(?<![\p{L}\p{N}])(?:FAIL|PARTIAL)(?![\p{L}\p{N}])/iu

/**
 * VER-03: the last verdict of a report, in any case. Null, which is never a PASS, when there is none or when what stands there is not
 * exactly one: `PASSED`, `PASS or FAIL`.
 */
export function verdictOf(report: string): VerifierVerdict | null {
  const head = [...report.matchAll(HEAD)].at(-1)
  if (!head) return null
  const rest = report.slice(head.index + head[0].length)
  const word = WORD.exec(rest)
  if (!word) return null
  const verdict = VERDICTS.find((known) => known === word[1]?.toUpperCase()) ?? null
  const line = rest.slice(word[0].length).split(/[\r\n]/, 1)[0] ?? ''
  return verdict === 'PASS' && DOUBT.test(line) ? null : verdict
}

const VERDICTS: readonly VerifierVerdict[] = ['PASS', 'FAIL', 'PARTIAL']
