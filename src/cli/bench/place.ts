import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../models/provider-settings.ts'
import { writeProject } from './project.ts'

/**
 * A project, a home and a CADRE_HOME of the bench's own: nothing of the user's is read or written, and `remove` leaves nothing behind; nor does
 * an exit of this process before it.
 */
export type BenchPlace = {
  readonly root: string
  /** Of the project, relative to its root. */
  readonly files: readonly string[]
  env(providerUrl: string): Environment
  remove(): void
}

export function createPlace(): BenchPlace {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  const root = join(folder, 'project')
  mkdirSync(root)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const files = writeProject(root)
  return {
    root,
    files,
    env: (url) => ({ HOME: folder, CADRE_HOME: join(folder, 'home'), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'any' }),
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}
