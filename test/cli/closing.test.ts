import { describe, expect, test } from 'vitest'
import { cliPlace } from './place.ts'

const preload = (code: string) => ({ NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"` })

/** A disk that fails when the journal is closed. */
const BROKEN_CLOSE = `import { DatabaseSync } from 'node:sqlite'
DatabaseSync.prototype.close = () => { throw new Error('disk I/O error') }`
/** A disk that takes nothing at all. */
const BROKEN_DISK = `import { DatabaseSync } from 'node:sqlite'
for (const name of ['exec', 'prepare', 'close']) DatabaseSync.prototype[name] = () => { throw new Error('disk I/O error') }`

describe('CMD-03: what goes wrong at the end of a command', () => {
  test('is one message and exit code 1, with the answer kept and no stack trace', async () => {
    const run = await cliPlace().cadre(['sessions', 'list', '--json'], { env: preload(BROKEN_CLOSE) })
    expect([run.code, run.stdout]).toEqual([1, '[]\n'])
    expect(run.stderr).toMatch(/^cadre: .*disk I\/O error.*\n$/)
  })

  test('does not hide what ended the command before', async () => {
    const run = await cliPlace().cadre(['sessions', 'show', 'nope'], { env: preload(BROKEN_CLOSE) })
    expect(run.code).toBe(2)
    expect(run.stderr).toMatch(/^cadre: No session "nope" in this root\..*\ncadre: .*disk I\/O error.*\n$/)
  })

  test('and what stops it at its start is one message too', async () => {
    const run = await cliPlace().cadre(['sessions', 'list'], { env: preload(BROKEN_DISK) })
    expect([run.code, run.stdout]).toEqual([1, ''])
    expect(run.stderr).toMatch(/^cadre: .*disk I\/O error.*\n$/)
  })

  test('even a command that cannot be loaded says so in one line', async () => {
    const broken = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { if (url.endsWith('/chunks/cli.js')) throw new Error('cli.js is damaged'); return next(url, context) } })`
    expect(await cliPlace().cadre(['--version'], { env: preload(broken) })).toMatchObject({ code: 1, stdout: '', stderr: 'cadre: cli.js is damaged\n' })
  })
})
