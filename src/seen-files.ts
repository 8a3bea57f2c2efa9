import { hash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Message, ToolOutcome } from './core/contract.ts'
import type { SeenFiles } from './tools/define-tool.ts'
import { decode } from './tools/reading/decode.ts'
import { readIfRegular } from './tools/reading/regular-file.ts'

/** Their outcomes name the file they read or wrote; a search names files of which one line was seen. */
const SHOW_WHOLE_FILES: readonly string[] = ['read', 'write', 'edit']

/** Characters of texts kept for all agents together: a text that is not known any more costs a refusal its diff, nothing else. */
const KEPT_CHARACTERS = 32_000_000

/** Texts by the hash an outcome names; those put in first go first. */
export type SeenTexts = {
  put(hash: string, text: string): void
  get(hash: string): string | null
}

export function createSeenTexts(): SeenTexts {
  const texts = new Map<string, string>()
  let characters = 0
  function drop(key: string): void {
    characters -= texts.get(key)?.length ?? 0
    texts.delete(key)
  }
  return {
    put(key, text) {
      drop(key)
      texts.set(key, text)
      characters += text.length
      for (const oldest of texts.keys()) {
        if (characters <= KEPT_CHARACTERS) break
        drop(oldest)
      }
    },
    get: (key) => texts.get(key) ?? null,
  }
}

/**
 * What one agent last read or wrote of each file (TOO-07), from its outcomes: those of its history, and those it is told of. The text of a file is
 * taken from the disk when it is heard of, if it is still the one the outcome rests on.
 */
export function openSeenFiles({ root, history, texts }: { readonly root: string; readonly history: readonly Message[]; readonly texts: SeenTexts }): SeenFiles & { heard(outcomes: readonly ToolOutcome[]): void } {
  const hashes = new Map<string, string>()

  function note(outcomes: readonly ToolOutcome[]): readonly string[] {
    const files = outcomes.filter(({ tool }) => SHOW_WHOLE_FILES.includes(tool)).flatMap(({ reads }) => reads ?? [])
    for (const { path, hash: of } of files) hashes.set(path, of)
    return files.map(({ path }) => path)
  }

  /** Of one that is gone or changed meanwhile none is kept: its next change is refused without a diff. */
  function keepText(path: string): void {
    const wanted = hashes.get(path)
    if (wanted === undefined || texts.get(wanted) !== null) return
    const bytes = readIfRegular(resolve(root, path))
    if (bytes && hash('sha1', bytes) === wanted) texts.put(wanted, decode(bytes))
  }

  for (const message of history) if (message.role === 'tool') note(message.outcomes)
  return {
    heard(outcomes) {
      for (const path of note(outcomes)) keepText(path)
    },
    hashOf: (path) => hashes.get(path) ?? null,
    seenText(path) {
      const known = hashes.get(path)
      return known === undefined ? null : texts.get(known)
    },
  }
}
