import { hash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'
import type { ToolAnswer } from '../../core/tool.ts'
import type { MainContext } from '../define-tool.ts'
import { codeOf, confine, display } from '../reading/confine.ts'
import type { Place } from '../reading/confine.ts'
import { decode } from '../reading/decode.ts'
import { noSuchFile } from '../reading/similar.ts'
import { openFolder } from './anchored-folder.ts'
import type { AnchoredFolder } from './anchored-folder.ts'
import { existingFile, refuseReadOnly } from './existing-file.ts'
import type { ExistingFile } from './existing-file.ts'
import { replaceFile } from './replace-file.ts'
import { changedMeanwhile, refuseStale } from './staleness.ts'

export type ChangeContext = Pick<MainContext, 'root' | 'paths' | 'signal' | 'files'>

/** What a file is to hold, and words for the model that say what was done. */
export type Change = { readonly bytes: Buffer; readonly said: string }

/**
 * Changes one file inside the workspace (TOO-02, 06, 07): what `change` makes of it as it is now, null where there is none, which without `create`
 * is refused. All in one go, so no two
 * calls of this process come between each other; another process has only the moment between the last comparison and the rename. The outcome
 * carries the new content's hash, so the agent may change the file again. Throws what the model should read, and then nothing was written.
 */
export function changeFile(
  given: string,
  { root, paths, signal, files }: ChangeContext,
  { create, change }: { readonly create: boolean; readonly change: (now: ExistingFile | null, path: string) => Change },
): ToolAnswer {
  signal.throwIfAborted()
  const place = confine({ root, paths }, given)
  const base = baseOf(place, root, paths)
  if (place.real === base) throw new Error(`${display(given)} is a folder, not a file`)
  return inFolder({ base, place, given, create }, (folder) => {
    const name = basename(place.real)
    const now = existingFile(folder.at(name), place.path)
    if (now) refuseStale(place.path, now, files)
    else if (!create) throw new Error(noSuchFile(place, given))
    const { bytes, said } = change(now, place.path)
    const answer = { text: said, reads: [{ path: place.path, hash: hash('sha1', bytes) }] }
    if (now?.bytes.equals(bytes)) return answer
    if (now) refuseReadOnly(folder.at(name), place.path)
    putInPlace(folder, name, place.path, bytes, now)
    return answer
  })
}

function putInPlace(folder: AnchoredFolder, name: string, path: string, bytes: Buffer, before: ExistingFile | null): void {
  const refuseChanged = () => {
    const now = existingFile(folder.at(name), path)
    if (now?.hash !== before?.hash) throw changedMeanwhile(path, before === null ? '' : decode(before.bytes), now?.bytes ?? null)
  }
  try {
    replaceFile(folder, name, bytes, before?.kept ?? null, refuseChanged)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new Error(`Read ${display(path)} before you change it.`, { cause: error }) // made by someone else just now
    throw error
  }
}

type Spot = { readonly base: string; readonly place: Place; readonly given: string; readonly create: boolean }

/** Runs `use` in the file's folder, which `create` makes where it is missing. What the disk refuses is said in words. */
function inFolder<Value>({ base, place, given, create }: Spot, use: (folder: AnchoredFolder) => Value): Value {
  try {
    const folder = openFolder(base, dirname(place.real), { create, given })
    try {
      return use(folder)
    } finally {
      folder.close()
    }
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    throw new Error(code === 'ENOENT' && !create ? noSuchFile(place, given) : `Cannot write ${display(place.path)}: ${code}`, { cause: error })
  }
}

/** The granted folder a place lies in: what is above it is nobody's to swap. */
function baseOf({ real, path }: Place, root: string, paths: readonly string[]): string {
  if (!isAbsolute(path)) return realpathSync.native(root)
  const base = paths.map((folder) => realpathSync.native(folder)).find((folder) => real === folder || real.startsWith(`${folder.replace(/\/$/, '')}/`))
  return base ?? dirname(real)
}
