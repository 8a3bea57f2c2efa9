import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** What a process uses, as its kernel counts: resident memory in MB, CPU time since its start in ms. */
export type Vitals = { readonly residentMb: number; readonly cpuMs: number }

/** Ticks of /proc/<pid>/stat: 100 per second on every Linux that runs Node. */
const MS_PER_TICK = 10
const KB_PER_MB = 1024

/** The vitals of those processes that can be read, by pid: from /proc on Linux, from `ps` elsewhere. Never rejects. */
export async function readVitals(pids: readonly number[]): Promise<ReadonlyMap<number, Vitals>> {
  if (process.platform !== 'linux') return fromPs(pids)
  return new Map(pids.flatMap((pid) => {
    const vitals = fromProc(pid)
    return vitals ? [[pid, vitals]] : []
  }))
}

/** Read without waiting: /proc is memory, and a thread of the pool may be a slow disk away. */
function fromProc(pid: number): Vitals | null {
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command's name stands in brackets and may hold anything; utime and stime are the 12th and 13th field after it.
    const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13)
    return { residentMb: Number(resident ?? 0) / KB_PER_MB, cpuMs: (Number(user) + Number(system)) * MS_PER_TICK }
  } catch {
    return null // it has ended: its exit event says so
  }
}

async function fromPs(pids: readonly number[]): Promise<ReadonlyMap<number, Vitals>> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,rss=,time=', '-p', pids.join(',')])
    return parsePs(stdout)
  } catch {
    return new Map() // no ps, or none of them is left: the wall clock still bounds a slice
  }
}

/** Lines of `ps -o pid=,rss=,time=`: pid, resident KB, and CPU time as `[[days-]hours:]minutes:seconds[.hundredths]`. */
export function parsePs(text: string): ReadonlyMap<number, Vitals> {
  return new Map(text.split('\n').flatMap((line) => {
    const [pid, resident, time] = line.trim().split(/\s+/)
    if (pid === undefined || resident === undefined || time === undefined) return []
    const [days = '0', clock = ''] = time.includes('-') ? time.split('-') : ['0', time]
    const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400
    return [[Number(pid), { residentMb: Number(resident) / KB_PER_MB, cpuMs: seconds * 1000 }]]
  }))
}
