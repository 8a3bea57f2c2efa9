import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FakeProvider } from '../src/cli/bench/provider-process.ts'
import { startFakeProvider } from '../src/cli/bench/provider-process.ts'

/** What a scenario has at hand. */
export type Bench = {
  /** How often each thing is measured. */
  readonly repeats: number
  /** Small sizes, to see that all works: the figures mean nothing. */
  readonly quick: boolean
  /** A build of this tree of the bench's own: nobody rebuilds it while it is measured. */
  readonly dist: string
  /** A fresh empty folder, gone after the bench. */
  folder(name: string): string
  /** A project to work in: a few small files, and no repository. */
  project(): Project
  /** Started at the first wish. */
  provider(): Promise<FakeProvider>
  /** One calm line for people. */
  tell(line: string): void
}

export type Project = { readonly root: string; readonly files: readonly string[] }

export type Closing = { close(): Promise<void> }

const FILES = 3
const FILE_LINES = 40

export function openBench({ repeats, quick, tell }: Pick<Bench, 'repeats' | 'quick' | 'tell'>): Bench & Closing {
  const temp = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  const build = frozenBuild()
  let folders = 0
  let provider: Promise<FakeProvider> | undefined
  const folder = (name: string) => {
    const path = join(temp, `${name}-${folders += 1}`)
    mkdirSync(path)
    return path
  }
  return {
    repeats,
    quick,
    tell,
    dist: join(build, 'dist'),
    folder,
    project() {
      const root = folder('project')
      const files = Array.from({ length: FILES }, (_, i) => `part-${i + 1}.ts`)
      for (const name of files) writeFileSync(join(root, name), `export const line = '${name}'\n`.repeat(FILE_LINES))
      return { root, files }
    },
    provider: () => (provider ??= startFakeProvider(new URL('provider.ts', import.meta.url))),
    async close() {
      await (await provider)?.close()
      for (const path of [temp, build]) rmSync(path, { recursive: true, force: true })
    },
  }
}

/** A copy of the package, as built, at a place from which its dependencies are found. */
function frozenBuild(): string {
  const root = join(import.meta.dirname, '..')
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const build = mkdtempSync(join(cache, 'cadre-bench-'))
  copyFileSync(join(root, 'package.json'), join(build, 'package.json'))
  cpSync(join(root, 'dist'), join(build, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.d.ts') })
  return build
}
