import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Place } from '../../src/permissions/place.ts'

/** A real folder with a root, a worktree in it and a home beside it; links as `[where, to]`. */
export function realPlace(files: readonly string[], links: readonly (readonly [where: string, to: string])[]): { readonly top: string; readonly place: Place; remove(): void } {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-place-')))
  const make = (path: string) => void mkdirSync(dirname(join(top, path)), { recursive: true })
  for (const file of files) {
    make(file)
    writeFileSync(join(top, file), '')
  }
  for (const [where, to] of links) {
    make(where)
    symlinkSync(to.replace(/^TOP/, top), join(top, where))
  }
  return { top, place: { root: join(top, 'root'), worktree: null, home: join(top, 'home') }, remove: () => rmSync(top, { recursive: true, force: true }) }
}
