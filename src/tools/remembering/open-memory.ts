import { hash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readdirSync, writeSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { ToolAnswer } from '../../core/tool.ts'
import type { MemoryFolder } from '../define-tool.ts'
import { codeOf, display } from '../reading/confine.ts'
import { decode } from '../reading/decode.ts'
import { hashFile } from '../reading/reads.ts'
import { openFolder } from '../writing/anchored-folder.ts'
import type { AnchoredFolder } from '../writing/anchored-folder.ts'
import { existingFile } from '../writing/existing-file.ts'
import { replaceFile } from '../writing/replace-file.ts'

/** `KB` is 1,024 bytes, as in TOO-03. */
export const MEMORY_LIMITS = { fileBytes: 25 * 1_024, listed: 1_000 } as const

const NEWLINE = 10

/**
 * An agent's memory (TOO-10). Paths are relative to its folder; none leaves it, and none goes through a link. Each operation is done in one go, so agents of this
 * process never mix; another process's append is kept whole unless it falls into the moment in which `write` replaces the file. All throw what the
 * model should read.
 */
export type Memory = {
  /** The files, with their sizes; the first 1,000 by path. */
  list(): ToolAnswer
  read(path: string): ToolAnswer
  write(path: string, content: string): ToolAnswer
  /** Adds a line or more at the end of a file, which is made where it is missing. */
  append(path: string, content: string): ToolAnswer
}

export function openMemory(memory: MemoryFolder): Memory {
  const read = (path: string) => inFolderOf(memory, path, false, (folder, name) => existingFile(folder.at(name), path))

  return {
    list() {
      const paths = filesBelow(memory)
      const lines = paths.slice(0, MEMORY_LIMITS.listed).map(({ path, bytes }) => `${display(path)} (${bytes} bytes)`)
      if (paths.length > lines.length) lines.push(`[${paths.length - lines.length} more files]`)
      return { text: lines.join('\n') || 'Your memory is empty.', ...(paths.length > 0 && { reads: listings(memory, paths.map(({ path }) => path)) }) }
    },
    read(path) {
      const file = read(path)
      if (!file) throw new Error(`No such file in your memory: ${display(path)}`)
      const shown = file.bytes.subarray(0, MEMORY_LIMITS.fileBytes)
      const more = file.bytes.length - shown.length
      const text = `${decode(shown)}${more > 0 ? `\n[${more} more bytes]` : ''}`
      return { text: text || '[the file is empty]', reads: [{ path: absolute(memory, path), hash: file.hash }] }
    },
    write(path, content) {
      const bytes = Buffer.from(content)
      refuseTooLong(path, bytes.length)
      inFolderOf(memory, path, true, (folder, name) => {
        const now = existingFile(folder.at(name), path)
        replaceFile(folder, name, bytes, now?.kept ?? null, () => undefined)
      })
      return { text: `Wrote ${display(path)} (${bytes.length} bytes).`, reads: [{ path: absolute(memory, path), hash: hash('sha1', bytes) }] }
    },
    append(path, content) {
      const whole = inFolderOf(memory, path, true, (folder, name) => {
        const before = existingFile(folder.at(name), path)?.bytes ?? Buffer.alloc(0)
        const added = Buffer.from(`${before.length > 0 && before.at(-1) !== NEWLINE ? '\n' : ''}${content.replace(/\n?$/, '\n')}`)
        refuseTooLong(path, before.length + added.length)
        appendTo(folder.at(name), added)
        return Buffer.concat([before, added])
      })
      return { text: `Added to ${display(path)} (${whole.length} bytes now).`, reads: [{ path: absolute(memory, path), hash: hash('sha1', whole) }] }
    },
  }
}

const absolute = ({ path: folder }: MemoryFolder, path: string): string => resolve(folder, path)

function inFolderOf<Value>(memory: MemoryFolder, path: string, create: boolean, use: (folder: AnchoredFolder, name: string) => Value): Value | null
function inFolderOf<Value>(memory: MemoryFolder, path: string, create: true, use: (folder: AnchoredFolder, name: string) => Value): Value
function inFolderOf<Value>({ base, path: top }: MemoryFolder, path: string, create: boolean, use: (folder: AnchoredFolder, name: string) => Value): Value | null {
  const target = resolve(top, path)
  const inside = relative(top, target)
  if (path.includes('\0') || inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) throw new Error(`Path is outside your memory: ${display(path)}`)
  try {
    const folder = openFolder(base, dirname(target), { create, given: path })
    try {
      return use(folder, basename(target))
    } finally {
      folder.close()
    }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' && !create) return null
    throw code === undefined ? error : new Error(`Cannot use ${display(path)} in your memory: ${code}`, { cause: error })
  }
}

function refuseTooLong(path: string, bytes: number): void {
  if (bytes <= MEMORY_LIMITS.fileBytes) return
  throw new Error(`${display(path)} would have ${bytes} bytes; a file of your memory has at most ${MEMORY_LIMITS.fileBytes}. Shorten it, or use another file.`)
}

/** One write: what another process adds at the same time comes before or after, never in between. */
function appendTo(path: string, bytes: Buffer): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666)
  try {
    const written = writeSync(fd, bytes)
    if (written < bytes.length) throw new Error('the disk is full')
  } finally {
    closeSync(fd)
  }
}

type Entry = { readonly path: string; readonly bytes: number }

/** All files, by path; links and what is no file are passed over. */
const filesBelow = (memory: MemoryFolder): readonly Entry[] => filesIn(memory, memory.path).toSorted((a, b) => (a.path < b.path ? -1 : 1))

/** Not by a recursive `readdir`, which looks into linked folders. */
function filesIn(memory: MemoryFolder, path: string): readonly Entry[] {
  const folder = folderThere(memory, path)
  if (folder === null) return []
  try {
    return readdirSync(folder.at('.'), { withFileTypes: true }).flatMap((entry) => {
      if (entry.isDirectory()) return filesIn(memory, join(path, entry.name))
      const stats = entry.isFile() ? lstatSync(folder.at(entry.name), { throwIfNoEntry: false }) : undefined
      return stats ? [{ path: relative(memory.path, join(path, entry.name)), bytes: stats.size }] : []
    })
  } finally {
    folder.close()
  }
}

/** Null: not made yet, or removed just now. */
function folderThere({ base }: MemoryFolder, path: string): AnchoredFolder | null {
  try {
    return openFolder(base, path, { create: false, given: path })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** What a list rests on, as `FileRead` has it: the names in each folder it shows. */
function listings({ path: top }: MemoryFolder, paths: readonly string[]) {
  const folders = new Set(paths.map((path) => `${dirname(resolve(top, path))}/`))
  return [...folders].flatMap((path) => {
    const names = hashFile(top, path)
    return names === null ? [] : [{ path, hash: names }]
  })
}
