import type { Git } from './git.ts'

/** A checkout of the repository, as git lists it. */
export type Registered = {
  readonly path: string
  /** Null when HEAD is on none. */
  readonly branch: string | null
  /** The reason it is locked for; null when it is not locked. */
  readonly lock: string | null
}

/** All checkouts of a repository, the main one first. */
export async function registered(git: Git, signal?: AbortSignal): Promise<readonly Registered[]> {
  const output = await git.run(['worktree', 'list', '--porcelain', '-z'], signal)
  return output.split('\0\0').filter((block) => block !== '').map((block) => {
    const fields = block.split('\0')
    const valueOf = (name: string): string | null => {
      const field = fields.find((each) => each === name || each.startsWith(`${name} `))
      return field === undefined ? null : field.slice(name.length + 1)
    }
    return { path: valueOf('worktree') ?? '', branch: valueOf('branch')?.replace('refs/heads/', '') ?? null, lock: valueOf('locked') }
  })
}

const REASON = 'cadre '

/** The reason a worktree of this owner is locked for. */
export const lockReason = (owner: string): string => REASON + owner

/** Whom a worktree is locked for; null when it is not locked by us. */
export const ownerOf = ({ lock }: Registered): string | null => (lock?.startsWith(REASON) ? lock.slice(REASON.length) : null)
