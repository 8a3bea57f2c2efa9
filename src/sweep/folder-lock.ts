import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CadreError } from '../core/errors.ts'
import { cannotWrite } from './cannot-write.ts'

/** Says which process's sweep owns the folder it lies in: `<process id> <name of this one lock>`. */
export const LOCK_NAME = '.sweep.lock'
/** Held for the moment in which a dead process's lock is removed: two that find it at once must not remove each other's new one. */
export const TAKEOVER_NAME = '.sweep.lock.takeover'

/** A lock or takeover without a readable process is one being written just now, or what a kill left of it: dead after this long. */
const BLANK_MS = 2_000
const RETRY_MS = 20
const TRIES = 200

/** The locks this process holds: one with its id that is not among them is of a dead process that had the same id. */
const ours = new Set<string>()

type Owner = { readonly text: string; readonly pid: number | null; readonly lives: boolean }

/** Throws USAGE, naming folder and process, when a living process's sweep owns the folder. Changes nothing. */
export function refuseOwned(folder: string, out: string): void {
  const owner = ownerOf(join(folder, LOCK_NAME))
  if (owner?.lives && owner.pid !== null) throw owned(folder, out, owner.pid)
}

/**
 * Makes this sweep the only one that writes into the folder, which must exist; a dead process's lock is taken over. Answers what gives it
 * back. Throws USAGE, naming folder and process, when another sweep owns it, of this process or another, and when the disk takes no file.
 */
export async function lockFolder(folder: string, out: string): Promise<() => void> {
  const path = join(folder, LOCK_NAME)
  const text = `${process.pid} ${randomUUID()}\n`
  ours.add(text)
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (create(path, text)) return () => unlock(path, text)
      refuseOwned(folder, out)
      removeDead(folder)
      await sleep(RETRY_MS)
    }
    throw owned(folder, out, ownerOf(path)?.pid ?? null)
  } catch (error) {
    ours.delete(text)
    throw error
  }
}

function unlock(path: string, text: string): void {
  if (ownerOf(path)?.text === text) rmSync(path, { force: true })
  ours.delete(text)
}

function removeDead(folder: string): void {
  const [path, takeover] = [join(folder, LOCK_NAME), join(folder, TAKEOVER_NAME)]
  if (!create(takeover, `${process.pid}\n`)) {
    // Synchronous from its creation to its removal, so only a kill leaves one behind.
    if (ageOf(takeover) > BLANK_MS) rmSync(takeover, { force: true })
    return
  }
  try {
    if (ownerOf(path)?.lives === false) rmSync(path, { force: true })
  } finally {
    rmSync(takeover, { force: true })
  }
}

/** Whether there was no such file: it is made then, and only one process can have made it. */
function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw cannotWrite(path, error)
  }
}

function ownerOf(path: string): Owner | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw cannotWrite(path, error)
  }
  const [, digits] = /^(\d{1,10}) [\w-]+\n$/.exec(text) ?? []
  if (digits === undefined) return { text, pid: null, lives: ageOf(path) <= BLANK_MS }
  const pid = Number(digits)
  return { text, pid, lives: pid === process.pid ? ours.has(text) : isAlive(pid) }
}

function ageOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? Date.now() - stats.mtimeMs : 0
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM' // not ours to signal, so it exists
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)

function owned(folder: string, out: string, pid: number | null): CadreError {
  const who = pid === null ? 'another process' : `process ${pid}`
  return new CadreError(
    'USAGE',
    `--out ${out} is in use by a sweep of ${who}. Name another folder, or wait until that one has ended. ` +
      `(If ${who} is no sweep, remove ${join(folder, LOCK_NAME)}.)`,
  )
}
