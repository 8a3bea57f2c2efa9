import { lstatSync } from 'node:fs'

import type { ReadFunction } from '../../core/tool.ts'
import { confine, display } from './confine.ts'
import { demandFolder } from './folder.ts'
import type { LsInput } from './inputs.ts'
import { ReadLog } from './reads.ts'
import type { Entry, EntryKind } from './walk.ts'

/** TOO-04. */
const LS_LIMITS = { entries: 1_000 } as const

type Listed = { readonly name: string; readonly kind: EntryKind; /** bytes; 0 for folders */ readonly size: number }

/** Lists one folder, folders first, by name, without what git ignores. */
export const ls: ReadFunction<LsInput> = async ({ path = '.', ignored = false }, context) => {
  const [{ Walker }, { describeLeftOut }] = await Promise.all([import('./walk.ts'), import('./left-out.ts')])
  const place = confine(context, path)
  demandFolder(place, path)
  const log = new ReadLog()
  const walker = new Walker(log, () => context.stopped())
  const all = oneEach(walker.list(place, ignored).entries)
  const entries = all.slice(0, LS_LIMITS.entries).map(withSize)
  const more = all.length - entries.length
  const reads = log.result()
  const text = context.form === 'data'
    ? JSON.stringify({ path: place.path, entries, more, ...walker.leftOut })
    : [
        ...(all.length === 0 ? ['[the folder is empty]'] : entries.map(line)),
        ...(more > 0 ? [`[${more} more entries: use glob]`] : []),
        ...describeLeftOut(walker.leftOut),
      ].join('\n')
  return reads === undefined ? { text } : { text, reads }
}

type Named = { readonly name: string; readonly kind: EntryKind; readonly real: string }

/** A folder that is ignored but holds tracked files comes as those files: it is one entry here. */
function oneEach(entries: readonly Entry[]): readonly Named[] {
  const byName = new Map<string, Named>()
  for (const { name, kind, real } of entries) {
    const [first = name, ...rest] = name.split('/')
    byName.set(first, rest.length > 0 ? { name: first, kind: 'folder', real } : { name, kind, real })
  }
  return [...byName.values()].toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

const rank = ({ kind }: Named): number => (kind === 'folder' ? 0 : 1)

const withSize = ({ name, kind, real }: Named): Listed =>
  ({ name, kind, size: kind === 'folder' ? 0 : (lstatSync(real, { throwIfNoEntry: false })?.size ?? 0) })

const SUFFIX: Readonly<Record<EntryKind, string>> = { folder: '/', file: '', link: '@', other: '=' }

const line = ({ name, kind, size }: Listed): string => `${display(name)}${SUFFIX[kind]}${kind === 'file' ? `  ${readable(size)}` : ''}`

function readable(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`
}
