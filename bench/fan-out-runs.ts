import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Project } from './bench.ts'
import { CADRE_DIALECT, parentPrompt } from '../src/cli/bench/fan-out-script.ts'
import type { Dialect } from '../src/cli/bench/fan-out-script.ts'
import type { ProviderStats } from '../src/cli/bench/fake-provider.ts'
import { SCRIPTED_ID, SCRIPTED_MODEL } from '../src/cli/bench/wire.ts'
import type { Command, Measured } from './measure.ts'
import { measure } from './measure.ts'

/** One whole fan-out, what the provider saw of it, and the home it ran in. */
export type FanOutRun = Measured & { readonly seen: ProviderStats; readonly home: string }

export type Shape = { readonly children: number; readonly latencyMs: number }

/** Who can fan out: how its process is started against a provider, and how it names things. */
export type Harness = {
  readonly name: string
  readonly dialect: Dialect
  command(at: { readonly url: string; readonly project: Project; readonly home: string; readonly children: number }): Command
}

/** Sub-agents that Cadre is to keep alive at once (issue 3); the rest wait in line. */
export const MOST_ALIVE = 200

/** Where Cadre starts: its own settings, and no pace (KIN-08): the other harnesses have none. */
function cadreHome(home: string, children: number): string {
  const folder = join(home, '.cadre')
  mkdirSync(folder, { recursive: true })
  const limits = { maxRunning: Math.min(MOST_ALIVE, Math.max(1, children)), launchPerSecond: 1_000_000 }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ limits }))
  return folder
}

const BARE = join(import.meta.dirname, 'bare', 'fan-out.mjs')

/** Nothing of who runs the bench: no settings, no keys. */
export const cleanEnv = (home: string): Readonly<Record<string, string>> => ({ PATH: process.env['PATH'] ?? '', HOME: home })

export const bare: Harness = {
  name: 'bare',
  dialect: CADRE_DIALECT,
  command: ({ url, project, home, children }) => ({ argv: [BARE, url, String(children), SCRIPTED_MODEL], cwd: project.root, env: cleanEnv(home) }),
}

export const cadre = (dist: string): Harness => ({
  name: 'cadre',
  dialect: CADRE_DIALECT,
  command: ({ url, project, home, children }) => ({
    argv: [join(dist, 'src', 'cli', 'main.js'), '-p', parentPrompt(children), '--model', SCRIPTED_ID],
    cwd: project.root,
    env: {
      ...cleanEnv(home), CADRE_HOME: cadreHome(home, children),
      NODE_COMPILE_CACHE: join(dist, 'compile-cache'), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'any',
    },
  }),
})

/** Runs a fan-out, in a fresh home unless one is given. Rejects when not all of it was asked for: less work is no comparison. */
export async function fanOut(bench: Bench, harness: Harness, project: Project, { children, latencyMs }: Shape, home = bench.folder('home')): Promise<FanOutRun> {
  const provider = await bench.provider()
  await provider.reset({ latencyMs, files: project.files, dialect: at(project.root, harness.dialect) })
  const measured = await measure(harness.command({ url: provider.url, project, home, children }), home)
  const seen = await provider.stats()
  const requests = children === 0 ? 1 : 2 + children * (project.files.length + 1)
  const wanted = `${requests} requests for ${children} sub-agents`
  if (seen.requests < requests || seen.children !== children) throw new Error(`${harness.name} sent ${seen.requests} for ${seen.children} instead of ${wanted}.`)
  return { ...measured, seen, home }
}

/** Some harnesses want whole paths: `{root}` in a dialect is the project's. */
const at = (root: string, dialect: Dialect): Dialect => JSON.parse(JSON.stringify(dialect).replaceAll('{root}', JSON.stringify(root).slice(1, -1))) as Dialect
