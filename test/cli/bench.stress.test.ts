import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { renderBench } from '../../src/cli/bench/render-bench.ts'
import { runBench } from '../../src/cli/bench/run-bench.ts'
import type { BenchReport } from '../../src/cli/bench/run-bench.ts'
import { styleOf } from '../../src/cli/style.ts'
import { cliPlace } from './place.ts'

/** A place whose temporary files can be listed. */
function place() {
  const here = cliPlace()
  const temp = join(here.folder, 'tmp')
  mkdirSync(temp)
  return { ...here, options: { env: { TMPDIR: temp } }, left: () => globSync('cadre-bench-*', { cwd: temp }), touched: () => globSync('{project,user,cadre}/**', { cwd: here.folder }) }
}

describe('CMD-10: cadre bench', () => {
  test('measures spawn, throughput and memory with no key set, and leaves no file of its own, nor one of the user\'s', async () => {
    const { json, options, left, touched } = place()
    const before = touched()
    const report = (await json(['bench', '--widths', '2'], options)) as BenchReport
    expect(report).toMatchObject({ node: process.versions.node, spawn: { count: 200 }, memory: { agents: 100 } })
    expect(report.throughput.map(({ width }) => width)).toEqual([2])
    const { spawn: { medianMs, p99Ms }, throughput: [two], memory: { perAgentMb, peakMb } } = report
    // How large they are is not for a test to say; a negative one would be of a false pair.
    const figures = [medianMs, p99Ms, two?.wallMs, two?.perSecond, perAgentMb, peakMb]
    expect(figures.filter((figure) => !(Number(figure) >= 0))).toEqual([])
    expect([left(), touched()]).toEqual([[], before])
  })

  for (const signals of [['SIGINT'], ['SIGTERM', 'SIGINT']] as const) {
    test(`interrupted by ${signals.join(' and at once ')}, it ends its provider and removes its files`, async () => {
      const { cadre, options, left } = place()
      const { code, stdout, stderr } = await cadre(['bench'], {
        ...options,
        during: (child) => void (async () => {
          while (left().length === 0 && child.exitCode === null) await delay(5)
          await delay(300)
          for (const signal of signals) child.kill(signal)
        })(),
      })
      // The second signal waits for nothing.
      expect([code, stdout, signals.length === 1 ? stderr : '']).toEqual([130, '', signals.length === 1 ? 'cadre: Interrupted\n' : ''])
      expect(left()).toEqual([])
    })
  }

  const broken = () => { throw new Error('disk I/O error') }
  for (const [what, breakIt] of [
    ['its journal cannot be closed', () => vi.spyOn(DatabaseSync.prototype, 'close').mockImplementation(broken)],
    ['memory cannot be read any more', () => vi.spyOn(process.memoryUsage, 'rss').mockReturnValueOnce(0).mockImplementation(broken)],
  ] as const) {
    test(`also when ${what}, it ends its provider and removes its files`, async () => {
      const temp = place().options.env.TMPDIR
      vi.stubEnv('TMPDIR', temp)
      const fault = breakIt()
      const asking = vi.spyOn(globalThis, 'fetch')
      onTestFinished(() => {
        vi.unstubAllEnvs()
        fault.mockRestore()
        asking.mockRestore()
      })
      const small = { widths: [1], spawns: 1, alive: 2, repeats: 1 }
      await expect(runBench({ ...small, signal: new AbortController().signal, onProgress: () => undefined })).rejects.toThrow('disk I/O error')
      const provider = asking.mock.calls.map(([url]) => url).find((url) => typeof url === 'string') ?? ''
      expect(provider).toMatch(/^http:/)
      expect(globSync('*', { cwd: temp })).toEqual([])
      await expect(fetch(provider)).rejects.toThrow('fetch failed')
    })
  }

  test('widths that are none are refused', async () => {
    const { code, stderr } = await cliPlace().cadre(['bench', '--widths', '8,501'])
    expect([code, stderr]).toEqual([2, 'cadre: option \'--widths <list>\' argument \'8,501\' is invalid. It must be whole numbers from 1 to 500, separated by commas.\n'])
  })

  test('a person gets a table of widths below the figures of one agent', () => {
    const report: BenchReport = {
      version: '1.2.3', node: '26.0.0', cores: 4, spawn: { count: 200, medianMs: 0.312, p99Ms: 12.3 },
      throughput: [{ width: 8, wallMs: 80.4, perSecond: 99.5 }, { width: 100, wallMs: 500, perSecond: 200 }], memory: { agents: 100, perAgentMb: 0.678, peakMb: 325.4 },
    }
    expect(renderBench(report, styleOf(process.stdout, { NO_COLOR: '1' })).split('\n')).toEqual([
      'Cadre 1.2.3, Node 26.0.0, 4 cores, a fake provider without latency',
      '',
      'From a sub-agent\'s start to its first model request: median 0.31 ms, p99 12 ms (200 starts)',
      'Memory: 0.68 MB for each agent that waits for its model (100 alive, 325 MB in all)',
      '',
      'at once    wall  sub-agents/s',
      '      8   80 ms           100',
      '    100  500 ms           200',
      '',
    ])
  })
})
