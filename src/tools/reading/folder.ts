import { lstatSync } from 'node:fs'

import { display } from './confine.ts'
import type { Place } from './confine.ts'
import { noSuchFile } from './similar.ts'

/** What a place is. Throws `No such file: …` when there is nothing. */
export function kindOf(place: Place, given: string): 'folder' | 'file' {
  const stats = lstatSync(place.real, { throwIfNoEntry: false })
  if (stats === undefined) throw new Error(noSuchFile(place, given))
  return stats.isDirectory() ? 'folder' : 'file'
}

/** Throws unless the place is a folder. */
export function demandFolder(place: Place, given: string): void {
  if (kindOf(place, given) !== 'folder') throw new Error(`${display(given)} is not a folder`)
}
