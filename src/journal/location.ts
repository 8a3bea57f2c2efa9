import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'

const NAME_CHARS = 40
const HASH_CHARS = 12

/**
 * Where the journal of a root is (JRN-01): one file per root, named after the root's folder so a person finds it, and after a hash of the
 * whole path so that two folders of one name never share it. `root` is the real path of the main checkout, whichever worktree asks.
 */
export function journalFile({ folder, root }: { readonly folder: string; readonly root: string }): string {
  const name = basename(root).replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '').slice(0, NAME_CHARS) || 'root'
  const hash = createHash('sha256').update(root).digest('hex').slice(0, HASH_CHARS)
  return join(folder, `${name}-${hash}.sqlite`)
}
