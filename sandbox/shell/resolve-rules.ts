import { sep } from 'node:path'
import { CadreError } from '../../src/core/errors.ts'
import type { Access, ShellPolicy } from './policy.ts'

/** What is at a path, links followed; null: nothing. */
export type Look = (path: string) => { readonly real: string; readonly folder: boolean } | null

/** A rule for what is really there. `folder` is null where nothing is. */
export type ResolvedRule = { readonly path: string; readonly access: Access; readonly folder: boolean | null }

const STRICTNESS: Readonly<Record<Access, number>> = { none: 3, read: 2, scratch: 1, write: 0 }

/** The rules of a policy with links followed, one for each path (the strictest), each before those below it. Throws `SHELL` for a pinned link. */
export function resolveRules(policy: ShellPolicy, look: Look): readonly ResolvedRule[] {
  const found = new Map<string, ResolvedRule>()
  for (const { path, access, pinned } of policy.rules) {
    const there = look(path)
    const real = there?.real ?? path
    if (pinned && real !== path) {
      throw new CadreError('SHELL', `bash cannot be confined in ${policy.root}: ${path} leads to ${real}, and a link cannot be protected. Put the real file or folder there, or set \`sandbox\` to \`off\`.`)
    }
    const before = found.get(real)
    if (!before || STRICTNESS[access] > STRICTNESS[before.access]) found.set(real, { path: real, access, folder: there?.folder ?? null })
  }
  return [...found.values()].toSorted((a, b) => depthOf(a.path) - depthOf(b.path))
}

const depthOf = (path: string): number => path.split(sep).filter((part) => part !== '').length
