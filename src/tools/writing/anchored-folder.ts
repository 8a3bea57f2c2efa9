import { closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { codeOf, display } from '../reading/confine.ts'

/** Names below this folder are the kernel's own names for open files; other systems have none that lead into a folder. */
const OPEN_FILES = process.platform === 'linux' ? '/proc/self/fd' : null

/** A folder held open: whoever puts a link in its place afterwards leads no operation on `at(name)` elsewhere. */
export type AnchoredFolder = {
  /** The path to use for a name in this folder, while it is open. */
  at(name: string): string
  close(): void
}

/**
 * Opens a folder part by part from `base`, which is trusted, and follows no link on the way: what was checked is what is used. Only on
 * Linux does it stay so until `close`; elsewhere a link put there within the same few operations is followed. `create` makes what is missing, for
 * `base` too. Throws `Path is outside the workspace: <given>` for a link, `<given>: <part> is not a folder` for anything else in the way, and passes on `ENOENT`.
 */
export function openFolder(base: string, path: string, { create, given }: { readonly create: boolean; readonly given: string }): AnchoredFolder {
  if (create) mkdirSync(base, { recursive: true })
  let anchor = anchored(base, openSync(base, constants.O_RDONLY | constants.O_DIRECTORY))
  let real = base
  for (const part of relative(base, path).split(sep).filter(Boolean)) {
    const next = anchor.at(part)
    try {
      if (create) makeFolder(next)
      real = join(real, part)
      const fd = openSync(next, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      anchor.close()
      anchor = anchored(real, fd)
    } catch (error) {
      const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() === true
      anchor.close()
      if (isLink) throw new Error(`Path is outside the workspace: ${display(given)}`, { cause: error })
      if (codeOf(error) === 'ENOTDIR') throw new Error(`${display(given)}: ${display(part)} is not a folder`, { cause: error })
      throw error
    }
  }
  return anchor
}

const anchored = (real: string, fd: number): AnchoredFolder => ({
  at: (name) => join(OPEN_FILES === null ? real : `${OPEN_FILES}/${fd}`, name),
  close: () => closeSync(fd),
})

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error // what is there already is opened, and judged then
  }
}
