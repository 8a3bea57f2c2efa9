import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { spreadOf } from '../src/cli/bench/spread.ts'
import type { Bench } from './bench.ts'
import type { FanOutRun, Harness, Shape } from './fan-out-runs.ts'
import { bare, cadre, fanOut } from './fan-out-runs.ts'
import type { AbsentPeer, Peer, PeerKind } from './peer.ts'
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
const NOTHING = { wall: {}, cpuPerDelegation: [], peak: [], requestBytes: 0 }
const WHY_CHARS = 300

type Runner = { readonly harness: Harness; readonly kind: PeerResult['kind']; readonly version: string; readonly home: string }

/** Installs the peers and fans out with each of them, bare Node and Cadre, in turn. A peer that fails is told in its row, and the rest go on. */
export async function runPeers(bench: Bench, peers: readonly (Peer | AbsentPeer)[]): Promise<readonly PeerResult[]> {
  const failed = new Map<string, PeerResult>()
  const fail = ({ name, kind, version }: Pick<PeerResult, 'name' | 'kind' | 'version'>, why: string) =>
    void failed.set(name, { ...NOTHING, name, kind, version, why: why.slice(0, WHY_CHARS) })
  const runners: Runner[] = [
    { harness: bare, kind: 'bare', version: process.versions.node, home: bench.folder('home') },
    { harness: cadre(bench.dist), kind: 'cadre', version: VERSION, home: bench.folder('home') },
  ]
  for (const peer of peers) {
    if ('why' in peer) {
      fail({ ...peer, version: '' }, peer.why)
      continue
    }
    bench.tell(`installing ${peer.packages.join(', ')}`)
    const folder = bench.folder(peer.name)
    try {
      const version = await install(folder, peer.packages)
      const harness: Harness = { name: peer.name, dialect: peer.dialect, command: (at) => peer.command({ ...at, folder }) }
      runners.push({ harness, kind: peer.kind, version, home: bench.folder('home') })
    } catch (error) {
      fail({ ...peer, version: '' }, messageOf(error))
    }
  }

  const project = bench.project()
  const runs = new Map<string, FanOutRun[]>()
  const shapes = bench.quick ? QUICK : SHAPES
  for (const shape of [{ children: 0, latencyMs: 0 }, ...shapes]) {
    // One round first, which fills caches and homes.
    for (let round = -1; round < Math.min(bench.repeats, MOST_REPEATS); round += 1) {
      bench.tell(`${shapeName(shape)}, round ${round + 1}`)
      for (const { harness, kind, version, home } of runners) {
        if (failed.has(harness.name)) continue
        try {
          const run = await fanOut(bench, harness, project, shape, home)
          const key = `${harness.name} ${shapeName(shape)}`
          if (round >= 0) runs.set(key, [...(runs.get(key) ?? []), run])
        } catch (error) {
          if (kind === 'bare' || kind === 'cadre') throw error
          fail({ name: harness.name, kind, version }, messageOf(error))
        }
      }
    }
  }

  const of = (name: string, shape: Shape): readonly FanOutRun[] => runs.get(`${name} ${shapeName(shape)}`) ?? []
  const widest = shapes.findLast(({ latencyMs }) => latencyMs === 0) ?? { children: 1, latencyMs: 0 }
  const measured = runners.filter(({ harness }) => !failed.has(harness.name)).map(({ harness: { name }, kind, version }): PeerResult => {
    const alone = spreadOf(of(name, { children: 0, latencyMs: 0 }).map(({ cpuMs }) => cpuMs)).median
    const wide = of(name, widest)
    return {
      name, kind, version, why: null,
      wall: Object.fromEntries(shapes.map((shape) => [shapeName(shape), of(name, shape).map(({ wallMs }) => wallMs)])),
      cpuPerDelegation: wide.map(({ cpuMs }) => (cpuMs - alone) / widest.children),
      peak: wide.map(({ peakMb }) => peakMb),
      requestBytes: wide[0]?.seen.firstChildBytes ?? 0,
    }
  })
  return [...measured, ...failed.values()]
}

const shapeName = ({ children, latencyMs }: Shape): string => `${children} at ${latencyMs} ms`

/** Installs packages with npm, and gives the version of the first. */
async function install(folder: string, packages: readonly string[]): Promise<string> {
  const npm = spawn('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], said] = await Promise.all([once(npm, 'close') as Promise<[number | null]>, text(npm.stderr), text(npm.stdout)])
  if (code !== 0) throw new Error(`npm could not install it: ${said.trim()}`)
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'node_modules', packages[0] ?? '', 'package.json'), 'utf8'))
  return (manifest as { readonly version: string }).version
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
