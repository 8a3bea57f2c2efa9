import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { dirname } from 'node:path'

import type { Place } from './confine.ts'
import { IgnoreScope } from './ignore-scope.ts'
import type { ReadLog } from './reads.ts'

/** An entry of a folder as the read tools see it. `other`: a socket, FIFO or device. */
export type EntryKind = 'folder' | 'file' | 'link' | 'other'
export type Entry = Place & { readonly name: string; readonly kind: EntryKind }

/** What a listing left out: entries git ignores (an ignored folder counts once) and files and folders that cannot be read. */
export type LeftOut = { ignored: number; unreadable: number }

/** A listing of one folder with ignored entries taken out, and the scope for what lies below. */
export type Folder = { readonly entries: readonly Entry[]; readonly scope: IgnoreScope | null }

export class Walker {
  readonly leftOut: LeftOut = { ignored: 0, unreadable: 0 }
  readonly #log: ReadLog
  readonly #stopped: () => boolean

  constructor(log: ReadLog, stopped: () => boolean) {
    this.#log = log
    this.#stopped = stopped
  }

  /** Calls `visit` for every file and link below `start`, sorted by path; stops when it returns false. Links are named, never followed. */
  walk(start: Place, ignored: boolean, visit: (entry: Entry) => boolean): void {
    this.#walkInto(this.list(start, ignored), visit)
  }

  /** One folder. `ignored: true` leaves nothing out, `.git` neither. */
  list(folder: Place, ignored: boolean): Folder {
    const scope = ignored ? null : IgnoreScope.at(folder.real, (file, bytes) => this.#log.add(pathFrom(folder, file), bytes))
    return this.#read(folder, () => scope)
  }

  #walkInto({ entries, scope }: Folder, visit: (entry: Entry) => boolean): boolean {
    if (this.#stopped()) throw new Error('Stopped.')
    for (const entry of entries) {
      if (entry.kind === 'other') continue
      const inside = (names: ReadonlySet<string>) => scope?.enter(entry.real, names) ?? null
      if (!(entry.kind === 'folder' ? this.#walkInto(this.#read(entry, inside), visit) : visit(entry))) return false
    }
    return true
  }

  #read(folder: Place, scopeWith: (names: ReadonlySet<string>) => IgnoreScope | null): Folder {
    let found: Dirent[]
    try {
      found = readdirSync(folder.real, { withFileTypes: true })
    } catch {
      this.leftOut.unreadable += 1
      return { entries: [], scope: null }
    }
    const names = found.map(({ name }) => name)
    this.#log.addListing(folder.path, names)
    const scope = scopeWith(new Set(names))
    const entries: Entry[] = []
    for (const dirent of found) {
      if (scope !== null && dirent.name === '.git') continue
      const entry = entryOf(folder, dirent)
      if (scope?.ignores(entry.real, entry.kind === 'folder') !== true) entries.push(entry)
      else {
        this.leftOut.ignored += 1
        if (entry.kind === 'folder') entries.push(...trackedFiles(entry, scope))
      }
    }
    return { entries: entries.toSorted(byPath), scope }
  }
}

/** Files git tracks although their folder is ignored: git does not ignore those. */
function trackedFiles(folder: Entry, scope: IgnoreScope): readonly Entry[] {
  return scope.trackedBelow(folder.real).flatMap((real) => {
    const kind = lstatSync(real, { throwIfNoEntry: false })
    if (kind === undefined || !(kind.isFile() || kind.isSymbolicLink()) || realpathSync.native(dirname(real)) !== dirname(real)) return []
    const rest = real.slice(folder.real.length)
    return { real, path: folder.path + rest, name: folder.name + rest, kind: kind.isFile() ? 'file' : 'link' }
  })
}

const pathFrom = (start: Place, file: string): string => {
  const below = file.startsWith(`${start.real}/`)
  if (!below) return file
  return start.path === '.' ? file.slice(start.real.length + 1) : start.path + file.slice(start.real.length)
}

function entryOf(folder: Place, dirent: Dirent): Entry {
  const kind = dirent.isFile() ? 'file' : dirent.isDirectory() ? 'folder' : dirent.isSymbolicLink() ? 'link' : 'other'
  const real = folder.real === '/' ? `/${dirent.name}` : `${folder.real}/${dirent.name}`
  return { real, path: folder.path === '.' ? dirent.name : `${folder.path}/${dirent.name}`, name: dirent.name, kind }
}

/** By path: a folder sorts as its files do, with a slash behind its name. */
function byPath(a: Entry, b: Entry): number {
  const left = a.kind === 'folder' ? `${a.name}/` : a.name
  const right = b.kind === 'folder' ? `${b.name}/` : b.name
  return left < right ? -1 : left > right ? 1 : 0
}
