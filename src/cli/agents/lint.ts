import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatDiagnostic } from '../../core/diagnostic.ts'
import type { Diagnostic, Severity } from '../../core/diagnostic.ts'
import { CadreError } from '../../core/errors.ts'
import { lint } from '../../definitions/lint.ts'
import type { LintVerdict } from '../../definitions/lint.ts'
import type { ScopeFolder } from '../../definitions/scope-folders.ts'
import { userFolder } from '../../settings/user-folder.ts'
import { cells, printable } from '../terminal-text.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { count, counted } from '../../sweep/figures.ts'
import { shortPath } from '../short-path.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { wrap } from '../wrap.ts'
import { writeJson } from '../write-all.ts'

type LintFlags = { readonly json: boolean; readonly fix: boolean }

/** Scopes whose files are a person's own to mend. */
const OWN: readonly ScopeFolder['scope'][] = ['project', 'user', 'user-claude']

/** `cadre agents lint [path] [--fix]`: the verdict on every file, documentation included; exit code 1 when one has an error (CMD-07). */
export async function lintAgents(context: CliContext, path: string | undefined, { json, fix }: LintFlags): Promise<void> {
  const verdicts = path === undefined ? await lintFolders(context, fix) : await lint([resolve(context.cwd, path)], { fix })
  if (json) writeJson(context.stdout, verdicts.map(asJson))
  else context.stdout.write(render(verdicts, context))
  if (verdicts.some(({ diagnostics }) => worst(diagnostics) === 'error')) context.setExitCode(1)
}

/** The folders of this root; with `fix` only the project's. */
async function lintFolders(context: CliContext, fix: boolean): Promise<readonly LintVerdict[]> {
  // What loading says of agent files, the verdicts say again.
  const orchestrator = await context.open({ watch: false, onDiagnostic: settingsDiagnosticsTo(context) })
  const { folders } = orchestrator.listTypes()
  const mine = folders.filter(({ scope, path }) => OWN.includes(scope) && (!fix || scope === 'project') && existsSync(path))
  if (mine.length === 0) {
    const what = fix ? 'fix' : 'lint'
    const remedy = 'Name a file or folder, or put agent files into .cadre/agents.'
    throw new CadreError('NOT_FOUND', `There is no agents folder to ${what} here. ${remedy}`)
  }
  const verdicts: LintVerdict[] = []
  for (const { path, ...place } of mine) verdicts.push(...await lint([path], { fix, place: () => place }))
  return verdicts
}

const ORDER: readonly Severity[] = ['error', 'warning', 'note']

const worst = (diagnostics: LintVerdict['diagnostics']): Severity | null =>
  ORDER.find((severity) => diagnostics.some((diagnostic) => diagnostic.severity === severity)) ?? null

function render(verdicts: readonly LintVerdict[], context: CliContext): string {
  const style = styleOf(context.stdout, context.env)
  const place = { cwd: context.cwd, ...userFolder(context.env) }
  const named = verdicts.map((verdict) => ({ verdict, path: shortPath(verdict.path, place) }))
  const lines = named.flatMap(({ verdict, path }) => [
    head(verdict, path, style),
    ...verdict.diagnostics.flatMap((found) => finding({ ...found, path: shortPath(found.path, place) }, style)),
  ])
  return `${[...lines, ...(lines.length > 0 ? [''] : []), summary(verdicts)].join('\n')}\n`
}

/** One line, as TYP-19 has it; on a terminal broken between words, not within. */
const finding = (diagnostic: Diagnostic, { width }: Style): readonly string[] =>
  wrap(formatDiagnostic(diagnostic), width - INDENT.length * 2).map((line, at) => INDENT + (at === 0 ? '' : '  ') + line)

const INDENT = '    '

const MARKS = { error: ['✗', 'red'], warning: ['!', 'yellow'], note: ['✓', 'green'], none: ['✓', 'green'] } as const

function head({ kind, type, diagnostics, fixed }: LintVerdict, path: string, { paint, width }: Style): string {
  const [mark, colour] = kind === 'documentation' ? (['·', 'dim'] as const) : MARKS[worst(diagnostics) ?? 'none']
  const verdict = kind === 'type' ? (type?.name ?? '') : kind
  const text = `${printable(path)}  ${paint.dim(printable(verdict))}${fixed ? `  ${paint.green('fixed')}` : ''}`
  return `${paint[colour](mark)} ${cells(path) > width ? printable(path) : text}`
}

function summary(verdicts: readonly LintVerdict[]): string {
  const all = verdicts.flatMap(({ diagnostics }) => diagnostics)
  const of = (severity: Severity) => all.filter((diagnostic) => diagnostic.severity === severity).length
  const kinds = (kind: LintVerdict['kind']) => verdicts.filter((verdict) => verdict.kind === kind).length
  const files = counted(verdicts.length, 'file')
  const fixed = verdicts.filter((verdict) => verdict.fixed).length
  return [
    `${files}: ${counted(kinds('type'), 'type')}, ${count(kinds('skipped'))} skipped, ${count(kinds('documentation'))} documentation`,
    `${counted(of('error'), 'error')}, ${counted(of('warning'), 'warning')}, ${counted(of('note'), 'note')}`,
    ...(fixed > 0 ? [`${count(fixed)} fixed`] : []),
  ].join('; ')
}

const asJson = ({ path, kind, type, diagnostics, fixed }: LintVerdict) =>
  ({ path, verdict: kind, name: type?.name ?? null, fixed, diagnostics })
