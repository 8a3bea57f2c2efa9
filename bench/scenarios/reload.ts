import { watch, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { interleave } from '../interleave.ts'
import type { Scenario } from '../scenario.ts'
import { monotonicMs } from '../../src/cli/bench/monotonic.ts'
import { loadTypes } from '../../src/definitions/registry.ts'

/** Between two changes, in ms: each is a burst of its own. */
const APART_MS = 300

/** From the write of an agent file to the reload; bare is the first word of fs.watch, and the file read. */
export const reload: Scenario = {
  name: 'reload',
  about: 'from a changed agent file to the type that counts (SCO-09: within a second)',
  async run(bench) {
    const root = bench.folder('project')
    const home = bench.folder('home')
    const folder = join(root, '.cadre', 'agents')
    const file = join(folder, 'watched.md')
    mkdirSync(folder, { recursive: true })
    let version = 0
    const change = () => writeFileSync(file, `---\nname: watched\ndescription: Version ${version += 1} of it.\n---\n\nRead.\n`)
    change()
    let heard = () => undefined as void
    const types = await loadTypes({
      root, cwd: root, home, userHome: home, claudeFolders: false, plugins: [], trusted: false, code: null,
      onDiagnostic: ({ message }) => { throw new Error(`The agent file of the bench: ${message}`) },
      onReload: () => heard(),
    })
    await types.watch()
    const timed = async (listen: (done: () => void) => void) => {
      await delay(APART_MS)
      const { promise, resolve } = Promise.withResolvers<void>()
      listen(resolve)
      const began = monotonicMs()
      change()
      await promise
      return monotonicMs() - began
    }
    try {
      const times = await interleave(bench, {
        async bare() {
          let watcher: ReturnType<typeof watch> | undefined
          try {
            return await timed((done) => {
              watcher = watch(folder, () => {
                if (readFileSync(file, 'utf8').includes(`Version ${version} `)) done()
              })
            })
          } finally {
            watcher?.close()
          }
        },
        cadre: () => timed((done) => { heard = done }),
      })
      return [{ scenario: 'reload', name: 'write to types.reloaded', unit: 'ms', better: 'less', ...times, limits: [{ of: 'median', most: 1_000 }] }]
    } finally {
      await types.close()
    }
  },
}
