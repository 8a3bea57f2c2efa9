import { readFileSync } from 'node:fs'

/** Resident memory of a process and all below it, in MB; 0 where it cannot be told: the process is gone, or this is not Linux. */
export function treeMemory(pid: number): number {
  return residentMb(pid) + childrenOf(pid).reduce((sum, child) => sum + treeMemory(child), 0)
}

/** What a process started; empty where it cannot be told. Node starts its children from its main thread. */
export const childrenOf = (pid: number): readonly number[] => (text(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).map(Number)

const KB_PER_MB = 1024

const residentMb = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(text(`/proc/${pid}/status`))?.[1] ?? 0) / KB_PER_MB

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // processes end at any moment
  }
}

/** Fields of /proc/self/stat behind the name, from 0. */
const ENDED_USER = 13
const ENDED_SYSTEM = 14
/** Linux counts these in hundredths of a second, whatever the machine. */
const MS_PER_TICK = 10

/** CPU in ms of all processes that this one started and that have ended, and of those they started; 0 where it cannot be told. */
export function endedChildrenCpuMs(): number {
  const fields = text('/proc/self/stat').replace(/^.*\) /s, '').split(' ').map(Number)
  return ((fields[ENDED_USER] ?? 0) + (fields[ENDED_SYSTEM] ?? 0)) * MS_PER_TICK
}
