// Preloaded into a measured process (`--import`): writes what it used, as it ends, into the file that CADRE_BENCH_USAGE names.
import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env.CADRE_BENCH_USAGE
delete process.env.CADRE_BENCH_USAGE
if (isMainThread && file) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage()
    writeFileSync(file, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: peakKb() / 1024 }))
  })
}

/** Linux counts into maxRSS what the process that started this one held at that moment. */
function peakKb() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
}
