import { chmodSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startProviderServer } from '../server/provider-server.ts'
import { agent, cliPlace } from './place.ts'

type Check = { readonly name: string; readonly state: 'ok' | 'warning' | 'broken'; readonly found: string; readonly remedy: string | null }
type Verdict = { readonly ok: boolean; readonly checks: readonly Check[] }

const KEY = 'sk-test-never-to-be-printed'

describe('CMD-09: cadre doctor', () => {
  test('on a sound machine nothing is broken, each warning has its remedy, and keys are named but never printed', async () => {
    const server = await startProviderServer({ script: () => ({ text: '' }) })
    const place = cliPlace()
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: KEY, CADRE_MODEL: 'anthropic/scripted-model' }
    const { stdout, stderr, code } = await place.cadre(['doctor'], { env })
    const verdict = (await place.json(['doctor'], { env })) as Verdict
    await server.close()
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(/^✓ Node +\d+\.\d+\.\d+, \d+ cores?$/m)
    expect(stdout).toMatch(/^✓ threads +up to \d+ live at once$/m)
    expect(stdout).toMatch(/^✓ programs +a program ran in its isolate$/m)
    expect(stdout).toMatch(/^✓ journal +cadre\/journal\/project-[0-9a-f]+\.sqlite is sound, 0 sessions$/m)
    expect(stdout).toMatch(/^✓ anthropic +ANTHROPIC_API_KEY is set, 1 model$/m)
    expect(stdout).toMatch(/^✓ other keys +not set: OPENAI_API_KEY, /m)
    expect(stdout).toMatch(/^✓ model +anthropic\/scripted-model$/m)
    expect(stdout).toMatch(/^! trust +project is not trusted.*\n +→ If you trust their authors, run cadre trust\.$/m)
    expect(stdout).toMatch(/\n\nNothing is broken; \d+ warnings?\.\n$/)
    expect(verdict.ok).toBe(true)
    expect(verdict.checks.map(({ name }) => name)).toEqual([
      'Node', 'git', 'sandbox', 'programs', 'threads', 'settings', 'trust', 'journal', 'agent types', 'duplicates',
      'anthropic', 'other keys', 'model',
    ])
    for (const { state, remedy } of verdict.checks) expect(remedy === null).toBe(state === 'ok')
    expect(stdout + JSON.stringify(verdict)).not.toContain(KEY)
  })

  test('settings that are not JSON, a model without its key and agent files that are skipped or twice there are found', async () => {
    const place = cliPlace({
      'cadre/settings.json': '{ "limits": { "maxRunning": 100000 }, "limit": 1 }',
      'project/.cadre/settings.json': '{',
      'project/.cadre/agents/a.md': agent('a'),
      'project/.cadre/agents/b.md': agent('a'),
      'project/.cadre/agents/c.md': '---js\n---\n',
    })
    const { code, stdout } = await place.cadre(['doctor', '--json'], { env: { CADRE_MODEL: 'openai/gpt-5' } })
    const { ok, checks } = JSON.parse(stdout) as Verdict
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    const found = checks.map(({ name, state, found }) => `${state} ${name}: ${found}`)
    expect(found).toEqual(expect.arrayContaining([
      'broken settings: project/.cadre/settings.json:1: error: settings are not JSON',
      'warning settings: cadre/settings.json:1: warning: unknown field "limit", did you mean "limits"?',
      expect.stringMatching(/^ok threads: up to \d+ live at once, for up to 100000 agents \(limits\.maxRunning\): one that waits for its model needs none, /),
      expect.stringMatching(/^warning agent types: \d+ types loaded, 1 file skipped$/),
      'warning duplicates: a: project/.cadre/agents/a.md hides project/.cadre/agents/b.md',
      expect.stringMatching(/^broken model: No key for openai: set OPENAI_API_KEY/),
    ]))
  })

  test('a damaged journal is broken, and the machine is examined all the same', async () => {
    const place = cliPlace()
    expect((await place.cadre(['doctor'])).code).toBe(0)
    const folder = join(place.folder, 'cadre/journal')
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.sqlite')) ?? '')
    truncateSync(file, 0)
    writeFileSync(file, 'this was a journal once, and is none any more'.repeat(100))
    const { code, stdout } = await place.cadre(['doctor'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ journal +The journal cadre\/journal\/project-\w+\.sqlite cannot be opened: it is not a journal/m)
    expect(stdout).toMatch(/^✓ programs/m)
    expect(stdout).toMatch(/^1 thing broken, /m)
  })

  test('without git and bubblewrap it says what is missing and how to get it', async () => {
    const place = cliPlace()
    const empty = join(place.folder, 'bin')
    mkdirSync(empty)
    writeFileSync(join(empty, 'git'), '#!/bin/sh\necho "git is out of order" >&2\nexit 3\n')
    chmodSync(join(empty, 'git'), 0o755)
    const { stdout, code } = await place.cadre(['doctor'], { env: { PATH: empty } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^! git +git does not run: git is out of order\n +→ Install git/m)
    if (process.platform === 'linux') expect(stdout).toMatch(
      /^! sandbox +bubblewrap does not work: it is not installed\n +→ Install it \(Debian/m,
    )
  })
})
