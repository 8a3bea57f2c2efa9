import { figureColumns, renderTable } from '../src/cli/table.ts'
import type { Style } from '../src/cli/style.ts'
import { spreadOf } from '../src/cli/bench/spread.ts'
import type { Unit } from './figure.ts'
import type { PeerResult } from './peer-runs.ts'
import { number, spreadText } from './table.ts'

/** One row a harness, the fastest first at the widest shape; then whether Cadre is ahead as issue 3 asks ("Done when" 6). */
export function renderPeers(results: readonly PeerResult[], style: Style): string {
  const ran = results.filter(({ why }) => why === null)
  const shapes = Object.keys(ran[0]?.wall ?? {})
  const last = shapes.at(-1) ?? ''
  const columns = [{ title: 'harness' }, { title: 'kind' }, ...figureColumns(...shapes, 'CPU each', 'peak', 'first request')]
  const rows = ran.toSorted((a, b) => wallOf(a, last) - wallOf(b, last)).map((result) => [
    `${result.name} ${result.version}`, result.kind, ...shapes.map((shape) => spread(result.wall[shape] ?? [], 'ms')),
    spread(result.cpuPerDelegation, 'ms'), spread(result.peak, 'MB'), `${number(result.requestBytes)} bytes`,
  ])
  const absent = results.filter(({ why }) => why !== null).map(({ name, version, why }) => `${`${name} ${version}`.trim()} could not run: ${why}\n`)
  return [renderTable(columns, rows, style), '\n', ...verdicts(ran, shapes), ...absent].join('')
}

const spread = (values: readonly number[], unit: Unit): string => spreadText(spreadOf(values), unit)

const wallOf = ({ wall }: PeerResult, shape: string): number => spreadOf(wall[shape] ?? []).median

/** What Cadre is to be ahead in, of whom. */
function verdicts(ran: readonly PeerResult[], shapes: readonly string[]): readonly string[] {
  const own = ran.find(({ kind }) => kind === 'cadre')
  const peers = ran.filter(({ kind }) => kind === 'library' || kind === 'CLI')
  const clis = peers.filter(({ kind }) => kind === 'CLI')
  if (!own || peers.length === 0) return []
  const line = (what: string, among: readonly PeerResult[], value: (result: PeerResult) => number): string => {
    const ahead = among.filter((peer) => value(peer) <= value(own)).map(({ name }) => name)
    return `${what}: ${ahead.length === 0 ? 'met' : `missed, behind ${ahead.join(', ')}`}\n`
  }
  return [
    ...shapes.map((shape) => line(`Faster than every other harness, ${shape}`, peers, (result) => wallOf(result, shape))),
    ...(clis.length === 0 ? [] : [
      line('Less memory than every CLI', clis, ({ peak }) => spreadOf(peak).median),
      line('A smaller first request than every CLI', clis, ({ requestBytes }) => requestBytes),
    ]),
  ]
}
