import type { Command } from 'commander'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { CadreError, messageOf } from '../../core/errors.ts'
import { cells, printable } from '../terminal-text.ts'
import type { CliContext } from '../context.ts'
import { broken } from '../doctor/check.ts'
import type { Check } from '../doctor/check.ts'
import { counted } from '../../sweep/figures.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { wrap } from '../wrap.ts'
import { writeJson } from '../write-all.ts'

/** `cadre doctor`: what works here, and the remedy for what does not; exit code 1 when something is broken (CMD-09). */
export function register(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check Node, git, sandbox, isolates, journal, settings, agent types and provider keys')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const checks = await examine(context)
      const sick = checks.some(({ state }) => state === 'broken')
      if (json) writeJson(context.stdout, { ok: !sick, checks })
      else context.stdout.write(render(checks, styleOf(context.stdout, context.env)))
      if (sick) context.setExitCode(1)
    })
}

/** A project that cannot be opened is one broken check; the machine is examined all the same. */
async function examine(context: CliContext): Promise<readonly Check[]> {
  const [{ machineChecks }, { projectChecks }] = await Promise.all([import('../doctor/machine.ts'), import('../doctor/project.ts')])
  const diagnostics: Diagnostic[] = []
  const path = context.env['PATH']
  try {
    const orchestrator = await context.open({ watch: false, onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic) })
    const machine = await machineChecks(path, orchestrator.settings.limits.maxRunning)
    return [...machine, ...(await projectChecks(orchestrator, diagnostics, context.env))]
  } catch (error) {
    const name = error instanceof CadreError && error.code === 'JOURNAL' ? 'journal' : 'project'
    return [...(await machineChecks(path, null)), broken(name, messageOf(error), 'The project was not examined further.')]
  }
}

const MARKS = { ok: ['✓', 'green'], warning: ['!', 'yellow'], broken: ['✗', 'red'] } as const

function render(checks: readonly Check[], { paint, width }: Style): string {
  const column = Math.max(...checks.map(({ name }) => cells(printable(name))))
  const beside = column + 4
  const lines = checks.flatMap(({ name, state, found, remedy }) => {
    const [mark, colour] = MARKS[state]
    const title = printable(name)
    const [first = '', ...rest] = wrap(found, width - beside)
    const advice = remedy === null ? [] : wrap(remedy, width - beside - 2)
    return [
      `${paint[colour](mark)} ${title}${' '.repeat(column - cells(title))}  ${first}`,
      ...rest.map((line) => ' '.repeat(beside) + line),
      ...advice.map((line, at) => `${' '.repeat(beside)}${at === 0 ? paint.dim('→') : ' '} ${line}`),
    ]
  })
  const number = (state: Check['state']) => checks.filter((check) => check.state === state).length
  return `${[...lines, '', summary(number('broken'), number('warning'))].join('\n')}\n`
}

function summary(faults: number, warnings: number): string {
  if (faults > 0) return `${counted(faults, 'thing')} broken, ${counted(warnings, 'warning')}.`
  return warnings > 0 ? `Nothing is broken; ${counted(warnings, 'warning')}.` : 'All is well.'
}
