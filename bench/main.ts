/** `npm run bench -- [scenario…]`: see `--help`. Exit codes: 0 measured (limits missed or not), 1 something failed, 2 asked wrongly, 130 interrupted. */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleOf } from '../src/cli/style.ts'
import { messageOf } from '../src/core/errors.ts'
import { openBench } from './bench.ts'
import { changes, renderChanges } from './compare.ts'
import { judge } from './figure.ts'
import type { Options } from './options.ts'
import { readOptions, UsageError } from './options.ts'
import { runPeers } from './peer-runs.ts'
import { renderPeers } from './peer-table.ts'
import { PEERS } from './peers.ts'
import { plotsOf } from './plot.ts'
import { newRun, readRun } from './saved-run.ts'
import { SCENARIOS } from './scenarios.ts'
import { renderFigures } from './table.ts'

const DOCS = join(import.meta.dirname, '..', 'docs')
const EXIT = { failed: 1, usage: 2, interrupted: 130 }

async function run({ scenarios, repeats, quick, json, compare, save, plot, peers: names }: Options): Promise<void> {
  const before = compare === undefined ? null : readRun(compare)
  if (save !== undefined) mustBeWritable(save)
  const bench = await openBench({ repeats, quick, tell: (line) => void process.stderr.write(`${line}\n`) })
  try {
    const figures = []
    for (const scenario of scenarios) {
      bench.tell(`${scenario.name}: ${scenario.about}`)
      figures.push(...(await scenario.run(bench)).map(judge))
    }
    const peers = names.length === 0 ? [] : await runPeers(bench, PEERS.filter(({ name }) => names.includes(name)))
    const done = newRun({ quick, repeats, figures, peers })
    if (save !== undefined) writeFileSync(save, `${JSON.stringify(done, null, 2)}\n`)
    if (plot) mkdirSync(DOCS, { recursive: true })
    if (plot) for (const [name, svg] of plotsOf(figures)) writeFileSync(join(DOCS, name), svg)
    if (json) return void process.stdout.write(`${JSON.stringify(done)}\n`)
    const style = styleOf(process.stdout, process.env)
    const { machine, versions, date } = done
    process.stdout.write(`${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${versions.node}, Cadre ${versions.cadre}, ${date.slice(0, 10)}\n`)
    process.stdout.write(`Medians of ${repeats === 1 ? 'one repeat' : `up to ${repeats} repeats`}, least and most in brackets.${quick ? ' Quick: these figures mean nothing.' : ''}\n`)
    if (figures.length > 0) process.stdout.write(`\n${renderFigures(figures, style)}`)
    if (peers.length > 0) process.stdout.write(`\n${renderPeers(peers, style)}`)
    if (before) process.stdout.write(`\nSince ${before.date.slice(0, 16)}:\n\n${renderChanges(changes(before, figures), style)}`)
  } finally {
    await bench.close()
  }
}

/** Said before minutes of measuring. */
function mustBeWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'))
  } catch (error) {
    throw new UsageError(`--save ${file}: ${messageOf(error)}`)
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(EXIT.interrupted))
try {
  const options = readOptions(process.argv.slice(2), SCENARIOS, PEERS.map(({ name }) => name))
  if (options !== null) await run(options)
} catch (error) {
  process.stderr.write(`bench: ${messageOf(error)}\n`)
  process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed
}
