import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../scripts/bundle.ts'
import { writeProject } from '../src/cli/bench/project.ts'
import type { FakeProvider } from '../src/cli/bench/provider-process.ts'
import { startFakeProvider } from '../src/cli/bench/provider-process.ts'

/** What a scenario has at hand. */
export type Bench = {
  /** How often each thing is measured. */
  readonly repeats: number
  /** Small sizes, to see that all works: the figures mean nothing. */
  readonly quick: boolean
  /** `dist/` of this tree, built for this bench alone: nobody rebuilds it while it is measured. */
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

const ROOT = join(import.meta.dirname, '..')
/** A killed process may still be at its last write. */
const REMOVE_RETRIES = 3

export async function openBench({ repeats, quick, tell }: Pick<Bench, 'repeats' | 'quick' | 'tell'>): Promise<Bench & { close(): Promise<void> }> {
  const temp = mkdtempSync(join(tmpdir(), `cadre-bench-${process.pid}-`))
  let folders = 0
  let provider: Promise<FakeProvider> | undefined
  const folder = (name: string) => {
    const path = join(temp, `${name}-${folders += 1}`)
    mkdirSync(path)
    return path
  }
  const build = newBuildFolder()
  const remove = () => {
    for (const path of [temp, build]) rmSync(path, { recursive: true, force: true, maxRetries: REMOVE_RETRIES })
  }
  process.once('exit', remove) // also when it is interrupted
  await bundle(join(build, 'dist'))
  return {
    repeats,
    quick,
    tell,
    dist: join(build, 'dist'),
    folder,
    project() {
      const root = folder('project')
      return { root, files: writeProject(root) }
    },
    provider: () => (provider ??= startFakeProvider(new URL('provider.ts', import.meta.url))),
    async close() {
      try {
        await (await provider)?.close()
      } finally {
        remove()
      }
    },
  }
}

/** Where the package is built: its dependencies are found from there. */
function newBuildFolder(): string {
  const cache = join(ROOT, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const build = mkdtempSync(join(cache, `cadre-bench-${process.pid}-`))
  copyFileSync(join(ROOT, 'package.json'), join(build, 'package.json'))
  return build
}
