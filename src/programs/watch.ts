import type { ProgramLimit } from '../core/program.ts'
import type { Vitals } from './vitals.ts'
import { readVitals } from './vitals.ts'

/** How often processes that run are looked at. A step that is answered sooner is never looked at, and costs no look. */
const LOOK_MS = 50
/** A slice may take this much longer by the clock than its running time, as a busy machine shares its cores; then it counts as hung. */
const HANG_MS = 20_000

/** What a process may use. `sliceMs`: CPU time (and at least as much by the clock); `wallMs`: by the clock, whatever it uses. */
export type Bounds = { readonly residentMb: number; readonly sliceMs: number; readonly wallMs: number }

/** The bounds of one slice of a program (PRG-04). */
export const sliceBounds = (residentMb: number, sliceMs: number): Bounds => ({ residentMb, sliceMs, wallMs: sliceMs + HANG_MS })

type Watched = {
  readonly pid: number
  readonly bounds: Bounds
  readonly since: number
  readonly broke: (limit: ProgramLimit) => void
  cpuAtFirst: number | null
}

/** Looks at running processes from outside, since nothing inside one can be relied on (DESIGN). */
export type Watch = {
  /** Calls `broke` once, at the first bound the process breaks. Returns what ends the watch over it. */
  over(pid: number, bounds: Bounds, broke: (limit: ProgramLimit) => void): () => void
}

export function createWatch(): Watch {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | null = null
  let looking = false

  async function look(): Promise<void> {
    if (looking) return
    const now = performance.now()
    const due = [...watched].filter(({ since }) => now - since >= LOOK_MS)
    if (due.length === 0) return
    looking = true
    const vitals = await readVitals(due.map(({ pid }) => pid))
    looking = false
    for (const one of due) {
      const limit = broken(one, vitals.get(one.pid), now - one.since)
      if (limit !== null && watched.delete(one)) one.broke(limit)
    }
  }

  return {
    over(pid, bounds, broke) {
      const one: Watched = { pid, bounds, since: performance.now(), broke, cpuAtFirst: null }
      watched.add(one)
      timer ??= setInterval(() => {
        if (watched.size > 0) return void look()
        if (timer) clearInterval(timer)
        timer = null
      }, LOOK_MS).unref()
      return () => { watched.delete(one) }
    },
  }
}

function broken(one: Watched, vitals: Vitals | undefined, wallMs: number): ProgramLimit | null {
  const { residentMb, sliceMs, wallMs: mostWallMs } = one.bounds
  if (wallMs >= mostWallMs) return 'running time'
  if (!vitals) return null
  one.cpuAtFirst ??= vitals.cpuMs
  if (vitals.residentMb > residentMb) return 'memory'
  return wallMs >= sliceMs && vitals.cpuMs - one.cpuAtFirst >= sliceMs ? 'running time' : null
}
