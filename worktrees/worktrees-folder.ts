import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lookAt } from './look-at.ts'
import { WorktreeError } from './worktree-error.ts'

/** Parts of the path below the main checkout. */
const PARTS = ['.cadre', 'worktrees'] as const

/** Where a main checkout keeps its worktrees. */
export const worktreesFolder = (checkout: string): string => join(checkout, ...PARTS)

/**
 * Makes the folder of the worktrees, which ignores itself (WKT-01); answers its path. Throws SYMLINK when a part of the path is a link: what is
 * made and removed there would be somewhere else (WKT-07).
 */
export function makeWorktreesFolder(checkout: string): string {
  refuseLinks(checkout)
  const folder = worktreesFolder(checkout)
  mkdirSync(folder, { recursive: true })
  refuseLinks(checkout)
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return folder
}

/** Throws SYMLINK as `makeWorktreesFolder` does; changes nothing. */
export function refuseLinks(checkout: string): void {
  PARTS.forEach((_, at) => {
    const named = PARTS.slice(0, at + 1).join('/')
    if (lookAt(join(checkout, named))?.isSymbolicLink()) {
      throw new WorktreeError('SYMLINK', `${named} is a symlink; remove it`)
    }
  })
}
