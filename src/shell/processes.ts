import { readdirSync, readFileSync } from 'node:fs'
import { signalled } from './call.ts'

/**
 * The living processes of some groups, and on Linux also those which left them (`setsid`, a double fork) but still have `TMPDIR` as they got
 * it, which no other agent has. Negative: a whole group. One that is only waiting to be asked how it ended does not live.
 */
export function livingProcesses(groups: readonly number[], tmp: string): readonly number[] {
  if (process.platform !== 'linux') return groups.filter((group) => signalled(-group, 0)).map((group) => -group)
  const mark = `TMPDIR=${tmp}`
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    const stat = read(`/proc/${pid}/stat`)
    // After the name, which may hold anything: state, parent, group.
    const [state = 'X', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return []
    return groups.includes(Number(group)) || read(`/proc/${pid}/environ`).split('\0').includes(mark) ? [Number(pid)] : []
  })
}

/** Empty for a process that is gone, and for somebody else's. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
