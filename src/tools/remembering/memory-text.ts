import type { MemoryFolder } from '../define-tool.ts'
import { decode } from '../reading/decode.ts'
import { openFolder } from '../writing/anchored-folder.ts'
import { existingFile } from '../writing/existing-file.ts'

/** What of `MEMORY.md` goes into a prompt. `KB` is 1,024 bytes. */
const SHOWN = { name: 'MEMORY.md', lines: 200, bytes: 25 * 1_024 } as const

/** Parts of a character that was cut at the end, which `decode` would take for Latin-1. */
const CONTINUES = 0b1000_0000
const CONTINUES_MASK = 0b1100_0000

/** PRO-05: the first 200 lines, at most 25 KB, of the `MEMORY.md` of a memory; empty where there is none, or none that may be read. */
export function memoryText({ base, path }: MemoryFolder): string {
  const bytes = contentOf(base, path)
  if (bytes === null) return ''
  return decode(bytes.subarray(0, wholeCharacters(bytes, SHOWN.bytes))).split('\n').slice(0, SHOWN.lines).join('\n').trimEnd()
}

function contentOf(base: string, path: string): Buffer | null {
  try {
    const folder = openFolder(base, path, { create: false, given: path })
    try {
      return existingFile(folder.at(SHOWN.name), SHOWN.name)?.bytes ?? null
    } finally {
      folder.close()
    }
  } catch {
    return null // the memory tool says what is wrong with it when the agent asks
  }
}

function wholeCharacters(bytes: Buffer, most: number): number {
  if (bytes.length <= most) return bytes.length
  let end = most
  while (end > 0 && ((bytes[end] ?? 0) & CONTINUES_MASK) === CONTINUES) end -= 1
  return end
}
