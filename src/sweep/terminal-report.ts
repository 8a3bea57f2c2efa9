import type { Finding, Level } from './findings.ts'
import { createPaint, type Paint } from './paint.ts'
import type { SweepSummary } from './summary.ts'
import { cells, fit, fitEnd, pad, printable } from './terminal-text.ts'
import { count, counted, headline, named, nextSteps } from './wording.ts'

/** `width` in columns; `maxRows`: lines for findings and answers, headings and failures not counted. */
export type ReportStyle = { readonly width: number; readonly colour: boolean; readonly maxRows: number }

const WIDTHS = { least: 40, most: 160, kind: 16, item: 40 } as const
const MAX_GROUPS = 5

/**
 * A sweep's summary for a terminal or a pipe, ending in a line break: counts, findings by file, answers, failures with their reasons, what to do
 * next. No line is wider than `width`, and text that agents wrote cannot control the terminal.
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

const TITLES: Readonly<Record<SweepSummary['status'], string>> = { completed: '', failed: '', stopped: 'Stopped early', interrupted: 'Interrupted' }

function head(summary: SweepSummary, { width, paint }: Page): Lines {
  const title = fit(printable(`${summary.agent} over ${summary.over}`), width)
  return [
    paint.bold(title),
    ...wrap([TITLES[summary.status], headline(summary)].filter(Boolean).join(': '), width),
    ...(summary.reason === null ? [] : wrap(printable(summary.reason), width).map(paint.red)),
  ]
}

/** The last agent's answer is what was asked for: whole, its line breaks kept. */
function reduced({ reduced }: SweepSummary): Lines {
  return reduced?.success ? reduced.output.trim().split('\n').map((line) => line.replace(/^\s*/, '') === '' ? '' : indentOf(line) + printable(line)) : []
}

const indentOf = (line: string) => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '  ') ?? ''

const LEVEL_PAINT: Readonly<Record<Level, keyof Paint>> = { error: 'red', warning: 'yellow', note: 'dim' }

function findings({ findings: { total, kinds, first } }: SweepSummary, { width, paint, maxRows }: Page): Lines {
  if (total === 0) return []
  const shown = first.slice(0, maxRows)
  const lineWidth = Math.max(...shown.map(({ line }) => String(line ?? '').length))
  const kindWidth = Math.min(WIDTHS.kind, Math.max(...shown.map(({ kind }) => cells(printable(kind)))))
  const row = ({ line, kind, level, message }: Finding) => {
    const place = String(line ?? '').padStart(lineWidth)
    const room = width - 2 - lineWidth - 2 - kindWidth - 2
    return `  ${paint.dim(place)}  ${paint[LEVEL_PAINT[level]](pad(printable(kind), kindWidth))}  ${fit(printable(message), room)}`.trimEnd()
  }
  const byFile = Map.groupBy(shown, ({ file }) => file)
  const kindCounts = kinds.map(({ kind, count: number }) => `${count(number)} ${printable(kind)}`).join(', ')
  return [
    ...[...byFile].flatMap(([file, inFile]) => [paint.bold(fitEnd(printable(file), width)), ...inFile.map(row)]),
    ...(total > shown.length ? [paint.dim(`… ${counted(total - shown.length, 'more finding')}`)] : []),
    ...(kinds.length > 1 || total > shown.length ? ['', fit(`By kind: ${kindCounts}`, width)] : []),
  ]
}

function answers({ answers: { total, first } }: SweepSummary, { width, paint, maxRows }: Page): Lines {
  if (total === 0) return []
  const shown = first.slice(0, maxRows)
  const names = shown.map(({ items }) => printable(named(items)))
  const nameWidth = Math.min(WIDTHS.item, Math.floor(width / 2), Math.max(...names.map(cells)))
  return [
    ...shown.map(({ text }, index) => `${paint.bold(pad(fitEnd(names[index] ?? '', nameWidth), nameWidth))}  ${fit(printable(text), width - nameWidth - 2)}`.trimEnd()),
    ...(total > shown.length ? [paint.dim(`… ${counted(total - shown.length, 'more answer')}`)] : []),
  ]
}

function failures({ failed, failures: { groups } }: SweepSummary, { width, paint }: Page): Lines {
  if (failed === 0) return []
  const shown = groups.slice(0, MAX_GROUPS)
  const numberWidth = Math.max(...shown.map(({ items }) => count(items).length))
  const room = width - numberWidth - 4
  return [
    paint.red(paint.bold(`Failed: ${counted(failed, 'item')}`)),
    ...shown.flatMap(({ items, ending, reason, examples }) => [
      ...wrap(`${ending}: ${printable(reason)}`, room, 3).map((line, index) => `  ${(index === 0 ? count(items) : '').padStart(numberWidth)}  ${line}`),
      paint.dim(`  ${' '.repeat(numberWidth)}  ${fit(printable(named(examples, items)), room)}`),
    ]),
    ...(groups.length > shown.length ? [paint.dim(`  … ${counted(groups.length - shown.length, 'more reason')}`)] : []),
  ]
}

function foot(summary: SweepSummary, { width, maxRows }: Page): Lines {
  const { files, findings: { total: findings }, answers: { total: answers } } = summary
  const isCut = findings > maxRows || answers > maxRows
  const steps = [...nextSteps(summary), ...(isCut && files.results === null ? ['Add --out <folder> to get everything as files.'] : [])]
  const written = [files.report, files.results, files.sarif].filter((path) => path !== null)
  return [...steps.flatMap((step) => wrap(step, width)), ...(written.length > 0 ? ['Written:', ...written.map((path) => `  ${printable(path)}`)] : [])]
}

/** Breaks a text at spaces; the last of `maxLines` is cut. */
function wrap(text: string, width: number, maxLines = 8): Lines {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && (cells(last) + 1 + cells(word) <= width || lines.length === maxLines)) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => fit(line, width))
}
