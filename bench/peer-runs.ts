import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { spreadOf } from '../src/cli/bench/spread.ts'
import type { Bench } from './bench.ts'
import type { FanOutRun, Harness, Shape } from './fan-out-runs.ts'
import { bare, cadre, fanOut } from './fan-out-runs.ts'
import type { AbsentPeer, Peer, PeerKind } from './peer.ts'
import { startGroup } from './process-group.ts'
import { messageOf } from '../src/core/errors.ts'
import { VERSION } from '../src/version.ts'

/** What one harness came to: raw repeats by shape (`100 at 200 ms`), in ms; or why it could not run. */
export type PeerResult = {
  readonly name: string
  readonly kind: PeerKind | 'bare' | 'cadre'
  readonly version: string
  readonly why: string | null
  readonly wall: Readonly<Record<string, readonly number[]>>
  /** Ms of CPU, MB and bytes, at the widest shape without latency. */
  readonly cpuPerDelegation: readonly number[]
  readonly peak: readonly number[]
  readonly requestBytes: number
}

const SHAPES: readonly Shape[] = [32, 100].flatMap((children) => [0, 200].map((latencyMs) => ({ children, latencyMs })))
const QUICK: readonly Shape[] = [{ children: 2, latencyMs: 0 }]
/** Repeats of what takes many seconds each. */
const MOST_REPEATS = 3
const ALONE: Shape = { children: 0, latencyMs: 0 }
const NOTHING = { wall: {}, cpuPerDelegation: [], peak: [], requestBytes: 0 }
const WHY_CHARS = 300

/** Who takes part; `home` is its own for all its runs. */
type Runner = Pick<PeerResult, 'kind' | 'version'> & { readonly harness: Harness; readonly home: string }

/** One runner's repeats by shape, until it failed. */
type Runs = { readonly byShape: ReadonlyMap<string, readonly FanOutRun[]>; readonly why: string | null }

/** Installs the peers and fans out with each of them, bare Node and Cadre, in turn. A peer that fails is told in its row, and the rest go on. */
export async function runPeers(bench: Bench, peers: readonly (Peer | AbsentPeer)[]): Promise<readonly PeerResult[]> {
  const runners: Runner[] = [
    { harness: bare, kind: 'bare', version: process.versions.node, home: bench.folder('home') },
    { harness: cadre(bench.dist), kind: 'cadre', version: VERSION, home: bench.folder('home') },
  ]
  const absent: PeerResult[] = []
  for (const peer of peers) {
    const installed = await installPeer(bench, peer)
    if ('why' in installed) absent.push(installed)
    else runners.push(installed)
  }
  const shapes = bench.quick ? QUICK : SHAPES
  const runs = await runAll(bench, runners, [ALONE, ...shapes])
  return [...runners.map((runner) => resultOf(runner, runs.get(runner) ?? NO_RUNS, shapes)), ...absent]
}

/** A peer ready to run, or the row that says why it cannot. */
async function installPeer(bench: Bench, peer: Peer | AbsentPeer): Promise<Runner | PeerResult> {
  if ('why' in peer) return failure({ ...peer, version: '' }, peer.why)
  bench.tell(`installing ${peer.packages.join(', ')}`)
  const folder = bench.folder(peer.name)
  try {
    const version = await install(folder, peer.packages)
    const harness: Harness = { name: peer.name, dialect: peer.dialect, command: (at) => peer.command({ ...at, folder }) }
    return { harness, kind: peer.kind, version, home: bench.folder('home') }
  } catch (error) {
    return failure({ ...peer, version: '' }, messageOf(error))
  }
}

const NO_RUNS: Runs = { byShape: new Map(), why: null }

/** All shapes with all runners in turn, in one project. A peer that failed runs no more; bare Node and Cadre must not fail. */
async function runAll(bench: Bench, runners: readonly Runner[], shapes: readonly Shape[]): Promise<ReadonlyMap<Runner, Runs>> {
  const project = bench.project()
  const all = new Map<Runner, Runs>()
  for (const shape of shapes) {
    // One round first, which fills caches and homes.
    for (let round = -1; round < Math.min(bench.repeats, MOST_REPEATS); round += 1) {
      bench.tell(`${shapeName(shape)}, round ${round + 1}`)
      for (const runner of runners) {
        const { byShape, why } = all.get(runner) ?? NO_RUNS
        if (why !== null) continue
        try {
          const run = await fanOut(bench, runner.harness, project, shape, runner.home)
          const name = shapeName(shape)
          if (round >= 0) all.set(runner, { byShape: new Map([...byShape, [name, [...(byShape.get(name) ?? []), run]]]), why })
        } catch (error) {
          if (runner.kind === 'bare' || runner.kind === 'cadre') throw error
          all.set(runner, { byShape, why: messageOf(error) })
        }
      }
    }
  }
  return all
}

/** What one runner's repeats come to. */
function resultOf({ harness: { name }, kind, version }: Runner, { byShape, why }: Runs, shapes: readonly Shape[]): PeerResult {
  if (why !== null) return failure({ name, kind, version }, why)
  const of = (shape: Shape): readonly FanOutRun[] => byShape.get(shapeName(shape)) ?? []
  const alone = spreadOf(of(ALONE).map(({ cpuMs }) => cpuMs)).median
  const widest = shapes.findLast(({ latencyMs }) => latencyMs === 0) ?? ALONE
  const wide = of(widest)
  return {
    name, kind, version, why,
    wall: Object.fromEntries(shapes.map((shape) => [shapeName(shape), of(shape).map(({ wallMs }) => wallMs)])),
    cpuPerDelegation: wide.map(({ cpuMs }) => (cpuMs - alone) / widest.children),
    peak: wide.map(({ peakMb }) => peakMb),
    requestBytes: wide[0]?.seen.firstChildBytes ?? 0,
  }
}

const failure = ({ name, kind, version }: Pick<PeerResult, 'name' | 'kind' | 'version'>, why: string): PeerResult =>
  ({ ...NOTHING, name, kind, version, why: why.slice(0, WHY_CHARS) })

const shapeName = ({ children, latencyMs }: Shape): string => `${children} at ${latencyMs} ms`

/** Installs packages with npm, and gives the version of the first. */
async function install(folder: string, packages: readonly string[]): Promise<string> {
  const npm = startGroup('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: folder })
  try {
    const { child } = npm
    const [[code], said] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stderr), text(child.stdout)])
    if (code !== 0) throw new Error(`npm could not install it: ${said.trim()}`)
  } finally {
    npm.end()
  }
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'node_modules', packages[0] ?? '', 'package.json'), 'utf8'))
  return (manifest as { readonly version: string }).version
}
