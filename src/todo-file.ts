import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Diagnostic } from './core/diagnostic.ts'
import { messageOf } from './core/errors.ts'
import type { CadreEvent } from './core/events.ts'
import { sessionsNamedIn, TODO_MARK, todoText } from './todo-text.ts'
import type { TodoJournal } from './todo-text.ts'

const FOLDER = '.cadre'
const NAME = 'TODO.md'

/** So many are looked through once per process, whoever ran them; the file itself names older ones. */
const RECENT_SESSIONS = 200

/** ms between two writes. */
const PAUSE_MS = 250

/** Another process may write at the same moment: whoever wrote looks again whether the file says what the journal says, so many times. */
const LOOKS = 4

export type TodoFile = {
  /** Hears an event that is in the journal. Never throws. */
  saw(event: CadreEvent): void
  /** Writes what is still to be written. The journal must be open yet. */
  close(): void
}

/**
 * `.cadre/TODO.md` of a root (DEL-12): the anchors of its sessions, for a person to read. Nothing is read back from it but which sessions other
 * processes have in it; all it says comes from the journal, so several processes may write it. It begins with the first background agent, and
 * goes when there is nothing left to show. A fault is one diagnostic.
 */
export function openTodoFile({ root, journal, onDiagnostic }: {
  readonly root: string
  readonly journal: TodoJournal
  onDiagnostic(diagnostic: Diagnostic): void
}): TodoFile {
  const path = join(root, FOLDER, NAME)
  /** Sessions whose events are heard here and that delegated in the background; those that ended are left out once that is written. */
  const own = new Set<string>()
  const ended = new Set<string>()
  /** Sessions of other processes, and of earlier ones, that have something to show; null: nobody looked yet. */
  let others: readonly string[] | null = null
  let timer: NodeJS.Timeout | undefined
  let wroteAt = -Infinity
  let told = false

  /** Does what touches the disk or the journal. */
  function guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (told) return
      told = true
      onDiagnostic({
        path, line: 1, severity: 'warning', message: `the list of background agents cannot be kept: ${messageOf(error)}`,
        remedy: 'make it writable or move it away; cadre sessions show tells the same',
      })
    }
  }

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    guarded(() => {
      for (let looks = 0; looks < LOOKS; looks += 1) {
        const before = contentOf(root) ?? ''
        const named = sessionsNamedIn(before)
        const { text, sessions } = todoText(journal, root, [...own, ...(others ?? journal.recentSessions(RECENT_SESSIONS)), ...named])
        others = sessions.filter((id) => !own.has(id))
        if (text !== before) replace(root, text)
        if (text === before || (others.length === 0 && named.every((id) => own.has(id)))) break
      }
    })
    for (const id of ended) own.delete(id)
    ended.clear()
    wroteAt = performance.now()
  }

  return {
    saw({ type, data, session, depth }) {
      switch (type) {
        case 'session.started':
          ended.delete(session)
          // Gone on with: results that waited for it are about to be read.
          if (isNamed(root, session)) own.add(session)
          break
        case 'delegation.queued':
        case 'delegation.started':
          if (data.background) own.add(session)
          break
        case 'turn.started':
          // A parent's turns make its anchors old (DEL-11).
          if (depth > 0) return
          break
        case 'delegation.ended':
          break
        case 'session.ended':
          if (own.has(session)) ended.add(session)
          break
        default:
          return
      }
      if (own.has(session)) timer ??= setTimeout(write, Math.max(0, wroteAt + PAUSE_MS - performance.now()))
    },
    close() {
      if (timer) write()
    },
  }
}

/** Whether the file has a heading for a session. One that cannot be read, or is not Cadre's, has none: whoever comes to write it says so. */
function isNamed(root: string, session: string): boolean {
  try {
    return sessionsNamedIn(contentOf(root) ?? '').includes(session)
  } catch {
    return false
  }
}

/** The file's text, null where there is none. Throws for what is not a file of Cadre's in this root. */
function contentOf(root: string): string | null {
  const folder = folderOf(root)
  const file = folder === null ? null : join(folder, NAME)
  const facts = file === null ? undefined : lstatSync(file, { throwIfNoEntry: false })
  if (file === null || !facts) return null
  if (!facts.isFile()) throw new Error(`${NAME} is ${facts.isSymbolicLink() ? 'a symbolic link' : 'no file'}, and is left alone`)
  const text = readFileSync(file, 'utf8')
  if (text !== '' && !text.startsWith(`${TODO_MARK}\n`)) throw new Error(`${NAME} was not written by Cadre, and is left alone`)
  return text
}

/** Null where there is none yet. Throws when it lies outside of the root. */
function folderOf(root: string): string | null {
  const folder = join(root, FOLDER)
  if (!lstatSync(folder, { throwIfNoEntry: false })) return null
  const real = realpathSync(folder)
  const within = relative(root, real)
  if (within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within)) throw new Error(`${FOLDER} leads out of the root`)
  return real
}

/** In one step: readers see the old text or the new one. An empty text is no file. */
function replace(root: string, text: string): void {
  if (text === '') {
    const folder = folderOf(root)
    if (folder !== null) rmSync(join(folder, NAME), { force: true })
    return
  }
  const folder = folderOf(root) ?? join(root, FOLDER)
  if (folderOf(root) === null) mkdirSync(folder)
  const unfinished = join(folder, `.${NAME}.${randomUUID()}.new`)
  try {
    writeFileSync(unfinished, text, { flag: 'wx' })
    renameSync(unfinished, join(folder, NAME))
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
