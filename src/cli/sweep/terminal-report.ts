import { count, counted } from '../../sweep/figures.ts'
import type { Finding, Level } from '../../sweep/findings.ts'
import type { SweepSummary } from '../../sweep/summary.ts'
import { headline, named, nextSteps } from '../../sweep/wording.ts'
import { createPaint, type Paint } from '../paint.ts'
import { cells, fit, fitEnd, pad, printable } from '../terminal-text.ts'
import { wrap } from '../wrap.ts'

/** `width` in columns; `maxRows`: lines for findings, and for answers. */
export type ReportStyle = { readonly width: number; readonly colour: boolean; readonly maxRows: number }

const WIDTHS = { least: 40, most: 160, kind: 16, item: 40 } as const
const MAX_GROUPS = 5
/** Lines a reason may take: at the top, and in the list of failures. */
const MAX_LINES = { top: 8, listed: 3 } as const

/**
 * A sweep's summary for a terminal or a pipe, ending in a line break: counts, findings by file, answers, failures with their reasons,
 * what to do next. No line is wider than `width`, but for paths that were written and the answer of the reduce agent; text that agents
 * wrote cannot control the terminal.
 */
export function renderReport(summary: SweepSummary, { width, colour, maxRows }: ReportStyle): string {
  const page = { width: Math.min(Math.max(width, WIDTHS.least), WIDTHS.most), paint: createPaint(colour), maxRows: Math.max(1, maxRows) }
  const sections = [
    head(summary, page),
    reduced(summary),
    findings(summary, page),
    answers(summary, page),
    failures(summary, page),
    foot(summary, page),
  ]
  return `${sections.filter((section) => section.length > 0).map((lines) => lines.join('\n')).join('\n\n')}\n`
}

type Page = { readonly width: number; readonly paint: Paint; readonly maxRows: number }
type Lines = readonly string[]

const TITLES = {
  completed: '',
  failed: '',
  stopped: 'Stopped early',
  interrupted: 'Interrupted',
} as const satisfies Readonly<Record<SweepSummary['status'], string>>

function head(summary: SweepSummary, { width, paint }: Page): Lines {
  const title = fit(printable(`${summary.agent} over ${summary.over}`), width)
  return [
    paint.bold(title),
    ...wrap([TITLES[summary.status], headline(summary)].filter(Boolean).join(': '), width),
    ...(summary.reason === null ? [] : wrap(summary.reason, width, MAX_LINES.top).map(paint.red)),
  ]
}

/** The last agent's answer is what was asked for: whole, its line breaks kept. */
function reduced({ reduced }: SweepSummary): Lines {
  return reduced?.success ? reduced.output.trim().split('\n').map((line) => (indentOf(line) + printable(line)).trimEnd()) : []
}

const indentOf = (line: string) => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '  ') ?? ''

const LEVEL_PAINT: Readonly<Record<Level, keyof Paint>> = { error: 'red', warning: 'yellow', note: 'dim' }

function findings({ findings: { total, kinds, first } }: SweepSummary, { width, paint, maxRows }: Page): Lines {
  if (total === 0) return []
  const shown = thatFit(first, maxRows)
  const lineWidth = Math.max(...shown.map(({ line }) => String(line ?? '').length))
  const kindWidth = Math.min(WIDTHS.kind, Math.max(...shown.map(({ kind }) => cells(printable(kind)))))
  const row = ({ line, kind, level, message }: Finding) => {
    const place = String(line ?? '').padStart(lineWidth)
    const room = width - 2 - lineWidth - 2 - kindWidth - 2
    const label = paint[LEVEL_PAINT[level]](pad(printable(kind), kindWidth))
    return `  ${paint.dim(place)}  ${label}  ${fit(printable(message), room)}`.trimEnd()
  }
  const byFile = Map.groupBy(shown, ({ file }) => file)
  const kindCounts = kinds.map(({ kind, count: number }) => `${count(number)} ${printable(kind)}`).join(', ')
  return [
    ...[...byFile].flatMap(([file, inFile]) => [paint.bold(fitEnd(printable(file), width)), ...inFile.map(row)]),
    ...(total > shown.length ? [paint.dim(`… ${counted(total - shown.length, 'more finding')}`)] : []),
    ...(kinds.length > 1 || total > shown.length ? ['', fit(`By kind: ${kindCounts}`, width)] : []),
  ]
}

/** As many of the first findings as fit into so many lines together with the names of their files; at least one. */
function thatFit(findings: readonly Finding[], maxRows: number): readonly Finding[] {
  const files = new Set<string>()
  const end = findings.findIndex(({ file }, index) => {
    const lines = index + 1 + files.add(file).size
    return index > 0 && lines > maxRows
  })
  return end < 0 ? findings : findings.slice(0, end)
}

function answers({ answers: { total, first } }: SweepSummary, { width, paint, maxRows }: Page): Lines {
  if (total === 0) return []
  const shown = first.slice(0, maxRows)
  const names = shown.map(({ items }) => printable(named(items)))
  const nameWidth = Math.min(WIDTHS.item, Math.floor(width / 2), Math.max(...names.map(cells)))
  const row = (text: string, name: string) =>
    `${paint.bold(pad(fitEnd(name, nameWidth), nameWidth))}  ${fit(printable(text), width - nameWidth - 2)}`.trimEnd()
  return [
    ...shown.map(({ text }, index) => row(text, names[index] ?? '')),
    ...(total > shown.length ? [paint.dim(`… ${counted(total - shown.length, 'more answer')}`)] : []),
  ]
}

function failures({ status, failed, failures: { groups } }: SweepSummary, { width, paint }: Page): Lines {
  if (failed === 0 || (status === 'stopped' && groups.length === 1)) return [] // the one reason stands at the top
  const shown = groups.slice(0, MAX_GROUPS)
  const numberWidth = Math.max(...shown.map(({ items }) => count(items).length))
  const room = width - numberWidth - 4
  const row = (number: string, text: string) => `  ${number.padStart(numberWidth)}  ${text}`
  return [
    paint.red(paint.bold(`Failed: ${counted(failed, 'item')}`)),
    ...shown.flatMap(({ items, ending, reason, examples }) => [
      ...wrap(`${ending}: ${reason}`, room, MAX_LINES.listed).map((line, index) => row(index === 0 ? count(items) : '', line)),
      paint.dim(row('', fit(printable(named(examples, items)), room))),
    ]),
    ...(groups.length > shown.length ? [paint.dim(`  … ${counted(groups.length - shown.length, 'more reason')}`)] : []),
  ]
}

function foot(summary: SweepSummary, { width, maxRows }: Page): Lines {
  const { files, findings, answers } = summary
  const isCut = findings.total > thatFit(findings.first, maxRows).length || answers.total > maxRows
  const steps = [...nextSteps(summary), ...(isCut && files.results === null ? ['Add --out <folder> to get everything as files.'] : [])]
  const written = [files.report, files.results, files.sarif].filter((path) => path !== null)
  return [
    ...steps.flatMap((step) => wrap(step, width)),
    ...(written.length > 0 ? ['Written:', ...written.map((path) => `  ${printable(path)}`)] : []),
  ]
}
