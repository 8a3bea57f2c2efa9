import { randomUUID } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processExists, startOf } from './process-identity.ts'
import { WorktreeError } from './worktree-error.ts'

const RETRY_MS = { least: 2, most: 50 } as const

/** The locks this process holds: one with its id that is not among them is of a dead process that had the same id. */
const ours = new Set<string>()

/**
 * Waits until no other process, and nobody else in this one, holds the lock at this path, then takes it; answers what gives it back. A lock of a
 * dead process is taken over. Rejects with the signal's reason, or with LOCKED after `patienceMs`.
 */
export async function lockProcess(path: string, { signal, patienceMs = Infinity }: { readonly signal?: AbortSignal | undefined; readonly patienceMs?: number } = {}): Promise<() => void> {
  const text = `${process.pid} ${startOf(process.pid)} ${randomUUID()}\n`
  const giveUpAt = performance.now() + patienceMs
  ours.add(text)
  try {
    for (let wait: number = RETRY_MS.least; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
      signal?.throwIfAborted()
      if (create(path, text)) break
      if (removeDead(path)) continue
      if (performance.now() > giveUpAt) throw new WorktreeError('LOCKED', `${path} is held by process ${holderOf(path)}. Wait until it has ended, or end it.`)
      await sleep(wait, undefined, signal && { signal }).catch(() => signal?.throwIfAborted())
    }
  } catch (error) {
    ours.delete(text)
    throw error
  }
  removeDrafts(path)
  return () => {
    if (textOf(path) === text) rmSync(path, { force: true })
    ours.delete(text)
  }
}

/** Whether there was no such file: it is made then, at once with its whole text, and only one process can have made it. */
function create(path: string, text: string): boolean {
  const draft = besides(path)
  writeFileSync(draft, text)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

const besides = (path: string): string => `${path}.${process.pid}.${randomUUID()}`

/** What killed processes left beside a lock. */
function removeDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(`${basename(path)}.`) ? /^(\d+)\.[\da-f-]+$/.exec(name.slice(basename(path).length + 1))?.[1] : undefined
    if (pid !== undefined && !processExists(Number(pid))) rmSync(join(dirname(path), name), { force: true })
  }
}

/**
 * Removes a dead process's lock. Two processes may find it at once, and the slower one must not remove what the faster one made since: so it is
 * moved aside first, looked at again, and put back if it is of the living.
 */
function removeDead(path: string): boolean {
  const text = textOf(path)
  if (text === null || isAlive(text)) return text === null
  const aside = besides(path)
  try {
    renameSync(path, aside)
    if (textOf(aside) !== text) linkSync(aside, path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
  return true
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

const holderOf = (path: string): string => textOf(path)?.split(' ')[0] ?? 'unknown'

function isAlive(text: string): boolean {
  const [, digits, start] = /^(\d{1,10}) (\S+) /.exec(text) ?? []
  const pid = Number(digits)
  if (digits === undefined) return false
  if (pid === process.pid) return ours.has(text)
  return processExists(pid) && start === startOf(pid)
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)
