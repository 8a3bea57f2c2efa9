import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { nearest } from '../../core/nearest.ts'
import { display } from './confine.ts'
import type { Place } from './confine.ts'

/** Names proposed for one that does not exist. */
const MAX_SIMILAR = 3
/** Names of a folder compared; edit distance over more would cost milliseconds. */
const MAX_COMPARED = 2_000

/** The message for a file that is not there: `No such file: <path>. Similar: <names>`, the names out of the nearest folder that exists. */
export function noSuchFile(place: Place, given: string): string {
  const names = similarNames(place.real)
  return `No such file: ${display(given)}.${names.length > 0 ? ` Similar: ${names.map(display).join(', ')}` : ''}`
}

function similarNames(real: string): readonly string[] {
  const folder = dirname(real)
  const names = namesIn(folder)
  if (names === null) return folder === real ? [] : similarNames(folder)
  const found: string[] = []
  while (found.length < MAX_SIMILAR) {
    const name = nearest(basename(real), names.filter((candidate) => !found.includes(candidate)))
    if (name === undefined) break
    found.push(name)
  }
  return found
}

function namesIn(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder).slice(0, MAX_COMPARED)
  } catch {
    return null // does not exist either: its parent is asked
  }
}
