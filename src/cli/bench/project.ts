import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILES = 3
const LINES = 40

/** Writes what each sub-agent of a fan-out reads, into a folder; gives the names. */
export function writeProject(root: string): readonly string[] {
  const files = Array.from({ length: FILES }, (_, i) => `part-${i + 1}.ts`)
  for (const name of files) writeFileSync(join(root, name), `export const line = '${name}'\n`.repeat(LINES))
  return files
}
