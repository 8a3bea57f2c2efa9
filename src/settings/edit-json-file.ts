import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError, messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'

/** ms. An edit holds the lock for less than a millisecond, so one this old was left by a process that died in it. */
const LOCK = { retryMs: 5, staleMs: 5_000, giveUpMs: 20_000 }

/** Settings may hold headers with keys: only the user reads a file made here. */
const MODE = { folder: 0o700, file: 0o600 }

/**
 * Rewrites a JSON file in one step that other processes see whole or not at all; edits of several processes follow one another. `edit`
 * gets the content (empty for a missing file) and returns the new one, or null to leave the file alone. Keeps the file's mode, and its
 * place when it is a symbolic link. Rejects with CadreError SETTINGS, the file untouched, when it is not one JSON object or cannot be
 * written.
 */
export async function editJsonFile(file: string, edit: (content: JsonObject) => JsonObject | null): Promise<void> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: MODE.folder })
    const target = statSync(file, { throwIfNoEntry: false }) ? realpathSync(file) : file
    const unlock = await lock(`${target}.lock`)
    try {
      const now = read(target)
      const next = edit(now.content)
      if (next) replace(target, `${JSON.stringify(next, null, 2)}\n`, now.mode)
    } finally {
      unlock()
    }
  } catch (error) {
    if (error instanceof CadreError) throw error
    throw new CadreError('SETTINGS', `${file} cannot be changed: ${messageOf(error)}`, { cause: error })
  }
}

function read(file: string): { readonly content: JsonObject; readonly mode: number } {
  const facts = statSync(file, { throwIfNoEntry: false })
  if (!facts) return { content: {}, mode: MODE.file }
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  const content: unknown = text.trim() === '' ? {} : parse(text)
  if (!isObject(content)) throw new CadreError('SETTINGS', `${file} is not one JSON object and was left as it is. Mend it, then try again.`)
  return { content, mode: facts.mode & 0o777 }
}

/** Undefined for a text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function replace(file: string, text: string, mode: number): void {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    const handle = openSync(temporary, 'wx', mode)
    try {
      writeFileSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Takes a lock file, waiting for another process's; resolves with what frees it. */
async function lock(file: string): Promise<() => void> {
  for (let waited = 0; waited < LOCK.giveUpMs; waited += LOCK.retryMs) {
    try {
      closeSync(openSync(file, 'wx', MODE.file))
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const facts = statSync(file, { throwIfNoEntry: false })
    if (facts && Date.now() - facts.mtimeMs > LOCK.staleMs) rmSync(file, { force: true })
    else await pause(LOCK.retryMs)
  }
  throw new CadreError('SETTINGS', `Another process holds ${file}. If none runs, delete that file.`)
}
