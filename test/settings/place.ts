import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { loadSettings } from '../../src/settings/load.ts'
import type { LoadedSettings, SettingsOptions } from '../../src/settings/load.ts'

/** A root, a user folder and a managed file of a test's own. `file(name, content)` writes JSON, or a text as it is. */
export function settingsPlace(files: Readonly<Partial<Record<Layer, unknown>>> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-settings-')))
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  const paths: Record<Layer, string> = {
    managed: join(folder, 'etc', 'settings.json'),
    local: join(root, '.cadre', 'settings.local.json'),
    project: join(root, '.cadre', 'settings.json'),
    user: join(home, 'settings.json'),
  }
  mkdirSync(root)
  mkdirSync(home)
  const write = (layer: Layer, content: unknown) => {
    mkdirSync(dirname(paths[layer]), { recursive: true })
    writeFileSync(paths[layer], typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  for (const [layer, content] of Object.entries(files)) write(layer as Layer, content)
  return {
    folder,
    root,
    home,
    paths,
    write,
    load: (options: Partial<SettingsOptions> = {}): LoadedSettings => loadSettings({
      root, home, env: {}, managedFile: paths.managed, ...options,
    }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

export type Layer = 'managed' | 'local' | 'project' | 'user'

/** The diagnostics as their lines, paths below `folder` written from there. */
export const linesOf = ({ diagnostics }: LoadedSettings, folder: string): readonly string[] =>
  diagnostics.map((diagnostic) => formatDiagnostic(diagnostic).replaceAll(`${folder}/`, ''))
