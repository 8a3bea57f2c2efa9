import { lstatSync, mkdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Rule, ShellPolicy } from '../../sandbox/shell/policy.ts'

/** Puts something where a policy must protect what is not there yet, and takes away again what nobody used. */
export type Placeholders = { put(): void; remove(): void }

/** `put` before each call: what was put for an earlier one may be gone. `remove` once no process under the policy is alive. */
export function createPlaceholders({ rules }: ShellPolicy): Placeholders {
  const mine = new Map<string, () => void>()
  return {
    put() {
      for (const rule of rules) {
        const undo = putOne(rule)
        if (undo) mine.set(rule.path, undo)
      }
    },
    remove() {
      for (const undo of [...mine.values()].toReversed()) unlessRefused(undo)
      mine.clear()
    },
  }
}

/** How to take it away again; null if nothing was put. */
function putOne({ path, placeholder }: Rule): (() => void) | null {
  if (placeholder === 'nothing' || isThere(path)) return null
  if (placeholder === 'folder') return unlessRefused(() => mkdirSync(path, { mode: 0o700 })) ? () => rmdirSync(path) : null
  const { file } = placeholder
  const put = unlessRefused(() => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file, { flag: 'wx' })
  })
  return put ? () => { if (readFileSync(path, 'utf8') === file) unlinkSync(path) } : null
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** What cannot be put by us, in a folder that is none or that may not be written, cannot be put by the agent; what is in use stays. */
function unlessRefused(act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
