import { readFileSync } from 'node:fs'

/**
 * Too many threads abort the whole process, with no exception, once it may map no more memory areas: at about 500 threads on Node 24 with
 * the usual 65,530. Half of the areas is kept free for everything else in the process.
 */
const THREAD_LIMITS = { least: 64, most: 200, mapsPerThread: 128, freeShare: 0.5 }

const MAP_LIMIT_FILE = '/proc/sys/vm/max_map_count'

/** How many threads may live at once where `maps` memory areas are allowed; null where the system sets no such limit. */
export function threadCap(maps: number | null = mapLimit()): number {
  if (maps === null) return THREAD_LIMITS.most
  const fitting = Math.floor((maps * (1 - THREAD_LIMITS.freeShare)) / THREAD_LIMITS.mapsPerThread)
  return Math.min(THREAD_LIMITS.most, Math.max(THREAD_LIMITS.least, fitting))
}

function mapLimit(): number | null {
  try {
    const maps = Number(readFileSync(MAP_LIMIT_FILE, 'utf8'))
    return Number.isSafeInteger(maps) && maps > 0 ? maps : null
  } catch {
    return null // only Linux has the file, and only Linux has the limit
  }
}
