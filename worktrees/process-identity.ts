import { readFileSync } from 'node:fs'

/** When a process started, in the kernel's ticks: a process id is given again after a while, the two together are not. `-`: nobody says. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
  } catch {
    return '-' // no /proc here
  }
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM' // not ours to signal, so it exists
  }
}
