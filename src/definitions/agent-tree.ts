import type { BigIntStats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'

/** How much of a folder tree is looked at: a link to `/` must not read the disk. */
const TREE_LIMITS = { folders: 1_000, files: 10_000 }

/** An agent file as found. `stamp` changes whenever its content may have. */
export type FoundFile = { readonly path: string; readonly bytes: number; readonly stamp: string }

export type AgentTree = { readonly files: readonly FoundFile[]; readonly problems: readonly Diagnostic[] }

/**
 * All `*.md` files below a folder, each real folder once, in byte order of their relative path (TYP-02). A folder that does not exist has
 * none; what cannot be read is a warning. Folders named `x.md` are folders; links are followed.
 */
export async function agentTree(folder: string): Promise<AgentTree> {
  const problems: Diagnostic[] = []
  const warn = (path: string, message: string, remedy: string) => problems.push({ path, line: 1, severity: 'warning', message, remedy })
  const files: { readonly relative: string; readonly file: FoundFile }[] = []
  const seen = new Set<string>()

  const visit = async (path: string, relative: string): Promise<void> => {
    const real = await realpath(path)
    if (seen.has(real)) return
    if (seen.size >= TREE_LIMITS.folders || files.length >= TREE_LIMITS.files) {
      warn(path, 'too many folders or files below an agents folder', 'the rest is not read; keep agents in a folder of their own')
      return
    }
    seen.add(real)
    const entries = (await readdir(path, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink() || entry.name.endsWith('.md'))
      .map(({ name }) => ({ name, child: join(path, name), relative: relative === '' ? name : `${relative}/${name}` }))
      .toSorted((a, b) => byBytes(a.name, b.name))
    const stats = await Promise.all(entries.map(({ child }) => attempt(child, () => stat(child, { bigint: true }))))
    for (const [i, { name, child, relative }] of entries.entries()) {
      const found = stats[i]
      if (found?.isDirectory()) await attempt(child, () => visit(child, relative))
      else if (found && name.endsWith('.md')) {
        if (found.isFile()) files.push({ relative, file: { path: child, bytes: Number(found.size), stamp: stampOf(found) } })
        else warn(child, 'is not a regular file', 'skipped; replace it by a file or move it away')
      }
    }
  }
  const attempt = async <T>(path: string, look: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await look()
    } catch (error) {
      if (path === folder && isMissing(error)) return undefined
      // A link that leads nowhere matters only if it was to be an agent file.
      if (path.endsWith('.md') || !isMissing(error)) {
        warn(path, `cannot be read: ${messageOf(error)}`, 'skipped; check the link and the permissions')
      }
      return undefined
    }
  }

  await attempt(folder, () => visit(folder, ''))
  return { files: files.toSorted((a, b) => byBytes(a.relative, b.relative)).map(({ file }) => file), problems }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const stampOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${ino}:${size}:${mtimeNs}:${ctimeNs}`

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
