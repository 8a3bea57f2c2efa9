import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import type { RegistryOptions, TypeChange, TypeRegistry } from '../../src/definitions/registry.ts'
import { loadTypes } from '../../src/definitions/registry.ts'

/** A folder that is gone after the test. Real path, so that what the code resolves compares equal. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-definitions-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file with the folders above it. */
export function put(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

export const agentFile = (name: string, description = `The ${name} type.`, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\nYou are ${name}.\n`

/** A machine of its own: a project, a home, a managed folder, and no built-in types unless the test puts some there. */
export type Place = Readonly<Record<'top' | 'root' | 'userHome' | 'home' | 'managed' | 'builtIn', string>>

export function place(): Place {
  const top = tempFolder()
  const at = {
    top, root: join(top, 'repo'), userHome: join(top, 'user'), home: join(top, 'user', '.cadre'),
    managed: join(top, 'etc', 'cadre', 'agents'), builtIn: join(top, 'built-in'),
  }
  for (const folder of [at.root, at.userHome, at.builtIn]) mkdirSync(folder)
  return at
}

export type Loaded = {
  readonly types: TypeRegistry
  readonly told: Diagnostic[]
  readonly changes: TypeChange[]
  /** What was told, as lines, with paths from the top of the place. */
  lines(): readonly string[]
}

export async function load(at: Place, options: Partial<RegistryOptions> = {}): Promise<Loaded> {
  const told: Diagnostic[] = []
  const changes: TypeChange[] = []
  const types = await loadTypes({
    root: at.root, cwd: at.root, home: at.home, userHome: at.userHome, managedFolder: at.managed, builtInFolder: at.builtIn,
    claudeFolders: true, plugins: [], code: undefined, trusted: true,
    onDiagnostic: (diagnostic) => told.push(diagnostic),
    onReload: (change) => changes.push(change),
    ...options,
  })
  onTestFinished(() => types.close())
  return { types, told, changes, lines: () => told.map(formatDiagnostic).map((line) => line.replaceAll(`${at.top}/`, '')) }
}

export const names = ({ types }: Loaded): readonly string[] => types.list().types.map(({ type }) => type.name)
