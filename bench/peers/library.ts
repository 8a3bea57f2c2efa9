import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanEnv } from '../fan-out-runs.ts'
import { SCRIPTED_MODEL } from '../../src/cli/bench/wire.ts'
import type { Peer } from '../peer.ts'

/** A library with a driver in bench/peers/fixtures: copied to where its packages are and run there: `node <name>.mjs <url> <children> <model>`. */
export function libraryPeer(name: string, packages: readonly string[]): Peer {
  const driver = `${name}.mjs`
  return {
    name,
    kind: 'library',
    packages,
    dialect: {
      delegate: { name: 'agent', input: { prompt: '{prompt}' } },
      read: { name: 'read', input: { path: '{file}' } },
    },
    command({ folder, url, project, home, children }) {
      const file = join(folder, driver)
      copyFileSync(join(import.meta.dirname, 'fixtures', driver), file)
      return { argv: [file, url, String(children), SCRIPTED_MODEL], cwd: project.root, env: cleanEnv(home) }
    },
  }
}
