import { count, counted } from './figures.ts'
import { placeOf } from './findings.ts'
import type { SweepSummary } from './summary.ts'
import { headline, named, nextSteps } from './wording.ts'

/** How every report begins: by this a sweep knows its own from a file of the user's. */
export const REPORT_HEAD = '# Sweep: '

/** `report.md` of a sweep (CMD-12): what came out, failures first with their causes, then findings, then other answers. */
export function renderMarkdown(summary: SweepSummary): string {
  const { agent, over, reduced } = summary
  const sections = [
    `${REPORT_HEAD}${plain(agent)} over ${plain(over)}`,
    `${plain(headline(summary))}.`,
    status(summary),
    reduced?.success && `## Result\n\n${reduced.output.trim()}`,
    failures(summary),
    findings(summary),
    answers(summary),
  ]
  return `${sections.filter(Boolean).join('\n\n')}\n`
}

const STATUS_LINES: Readonly<Record<SweepSummary['status'], string>> = {
  completed: '',
  failed: '',
  interrupted: '**Interrupted:** what had finished is below.',
  stopped: '**Stopped early:**',
}

function status(summary: SweepSummary): string {
  const reason = summary.reason === null ? '' : `${plain(summary.reason)}${/[.!?]$/.test(summary.reason) ? '' : '.'}`
  return [STATUS_LINES[summary.status], reason, ...nextSteps(summary)].filter(Boolean).join(' ')
}

function failures({ failed, failures: { groups, first } }: SweepSummary): string {
  if (failed === 0) return ''
  const listed = first.reduce((sum, { items }) => sum + items.length, 0)
  const causes = groups.map(({ items, ending, reason, examples }) => [count(items), ending, reason, named(examples, items)])
  const runs = first.map(({ items, ending, reason, agentId }) => [named(items), ending, reason, agentId])
  return [
    `## Failures (${count(failed)})`,
    groups.length > 1 && table(['items', 'status', 'reason', 'first'], causes),
    table(['item', 'status', 'reason', 'agent'], runs),
    more(failed - listed, 'failed item'),
  ].filter(Boolean).join('\n\n')
}

function findings({ findings: { total, kinds, first } }: SweepSummary): string {
  if (total === 0) return ''
  return [
    `## Findings (${count(total)})`,
    table(['kind', 'count'], kinds.map(({ kind, count: number }) => [kind, count(number)])),
    table(['place', 'kind', 'level', 'message'], first.map((finding) => [placeOf(finding), finding.kind, finding.level, finding.message])),
    more(total - first.length, 'finding'),
  ].filter(Boolean).join('\n\n')
}

function answers({ answers: { total, first } }: SweepSummary): string {
  if (total === 0) return ''
  return [
    `## Answers (${count(total)})`,
    table(['item', 'answer'], first.map(({ items, text }) => [named(items), text])),
    more(total - first.length, 'answer'),
  ].filter(Boolean).join('\n\n')
}

const more = (left: number, noun: string) => (left > 0 ? `${counted(left, `more ${noun}`)} in results.jsonl.` : '')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(plain))].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** Text that was written by a model or a file, made harmless in Markdown and its tables: no markup, no HTML, one line. */
const plain = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replaceAll(/[\\`*_[\]|~#]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
