import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { lockdown } from '../../src/programs/lockdown.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-lockdown-')))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

/** Runs a line of code with the rights of an isolate process; what it prints, or the code of what it threw. */
async function inside(code: string): Promise<string> {
  const { execArgv, env } = lockdown()
  const wrapped = `const say = (x) => process.stdout.write(String(x)); (async () => { ${code} })().catch((error) => say(error.code ?? error))`
  const { stdout } = await promisify(execFile)(process.execPath, [...execArgv, '-e', wrapped], { env, cwd: repository })
  return stdout
}

describe('PRG-05 the process of an isolate holds nothing, even for code that broke out of its isolate', () => {
  const denied: Record<string, string> = {
    'write a file': `require('node:fs').writeFileSync(${JSON.stringify(join(temporary, 'written'))}, 'x')`,
    'write into its own folder': `require('node:fs').writeFileSync(${JSON.stringify(lockdown().filename)}, 'x')`,
    'read a file': "say(require('node:fs').readFileSync('/etc/passwd'))",
    'read the project it works for': "say(require('node:fs').readFileSync('src/index.ts'))",
    'read the environment of another process': `say(require('node:fs').readFileSync('/proc/${process.pid}/environ'))`,
    'list a folder': "say(require('node:fs').readdirSync('.'))",
    'start a process': "require('node:child_process').execFileSync('true')",
    'start a thread': "new (require('node:worker_threads').Worker)('1', { eval: true })",
    'load a module from elsewhere': "await import('/etc/passwd')",
  }
  for (const [what, code] of Object.entries(denied)) {
    test(`it cannot ${what}`, async () => {
      expect(await inside(code)).toBe('ERR_ACCESS_DENIED')
    })
  }

  test.skipIf(Number(process.versions.node.split('.')[0]) < 26)('it cannot open a connection', async () => {
    expect(await inside("await new Promise((_, reject) => require('node:net').connect(8009, '127.0.0.1').on('error', reject))"))
      .toBe('ERR_ACCESS_DENIED')
    expect(await inside("say((await fetch('http://127.0.0.1:8009').catch((error) => error.cause)).code)")).toBe('ERR_ACCESS_DENIED')
  })

  test('its environment is empty but for the time zone', async () => {
    expect(JSON.parse(await inside('say(JSON.stringify(process.env))'))).toEqual({ TZ: 'UTC' })
    expect(existsSync(join(temporary, 'written'))).toBe(false)
  })
})

/** The sources of the room alone, in a folder where isolated-vm is not installed. */
function withoutIsolatedVm(): string {
  const root = join(temporary, 'without')
  for (const path of ['src/core', 'src/programs', 'sandbox/isolate', 'package.json']) cpSync(join(repository, path), join(root, path), { recursive: true })
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(join(repository, 'node_modules/tinypool'), join(root, 'node_modules/tinypool'))
  return root
}

const BEGIN = `
import { createPrograms } from './src/programs/programs.ts'
import { scriptModel } from './src/programs/script-model.ts'
const programs = createPrograms({ max: 1 })
const type = { name: 'todo-audit', path: null, program: { code: 'return 1', line: 1 } }
const model = scriptModel({ programs, type, tools: [], seed: 1, prompt: '' })
const request = { agent: 'a', turn: 1, time: 1, system: '', tools: [], messages: [] }
await model.generate(request, { signal: new AbortController().signal, onDelta() {} }).catch((error) => console.log(JSON.stringify([error.code, error.message])))
await programs.close()
`

test('what keeps a program from running is named: no isolated-vm, no binary for this Node, a process that cannot start', async () => {
  const root = withoutIsolatedVm()
  writeFileSync(join(root, 'begin.ts'), BEGIN)
  const said = async () => JSON.parse((await promisify(execFile)(process.execPath, ['begin.ts'], { cwd: root })).stdout) as [string, string]
  const [major, minor] = process.versions.node.split('.')
  const expected = ['ISOLATE_UNAVAILABLE', `The agent type "todo-audit" runs a program, which needs isolated-vm; it is not installed for Node ${major}.${minor}. ` +
    'Run `npm rebuild isolated-vm`, or choose a type without `model: script`.']
  expect(await said()).toEqual(expected)

  // Installed, but without a binary for this Node.
  const broken = join(root, 'node_modules/isolated-vm')
  mkdirSync(broken)
  for (const file of ['package.json', 'isolated-vm.js']) cpSync(join(repository, 'node_modules/isolated-vm', file), join(broken, file))
  cpSync(join(repository, 'node_modules/node-gyp-build'), join(root, 'node_modules/node-gyp-build'), { recursive: true })
  expect(await said()).toEqual(expected)

  // A process that cannot even start, time and again.
  writeFileSync(join(root, 'sandbox/isolate/process.ts'), "throw new Error('broken on purpose')")
  expect(await said()).toEqual(['CRASHED', 'The program of todo-audit did not run: an isolate process could not start (Error: broken on purpose).'])
})

test.skipIf(process.platform !== 'linux')('a program that loops does not outlive a host that is killed', async () => {
  const script = join(temporary, 'host.ts')
  writeFileSync(script, `
    import { readFileSync, readdirSync } from 'node:fs'
    import { createPrograms } from ${JSON.stringify(join(repository, 'src/programs/programs.ts'))}
    const programs = createPrograms({ max: 1, sliceSeconds: 600 })
    const start = { code: 'await tools.x(); for (;;);', line: 1, file: 'f', prompt: '', tools: ['x'], time: 1, seed: 1 }
    const { program } = await programs.begin(start, new AbortController().signal)
    void program.step([{ id: 1, ok: true, text: '1' }], 2, new AbortController().signal)
    const parent = (pid) => Number(readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1].split(' ')[1])
    console.log(readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid) && (() => { try { return parent(pid) === process.pid } catch { return false } })()).join())
  `)
  const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(host.stdout), 'line') as [string]
  const pid = Number(line)
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--permission')
  host.kill('SIGKILL')
  await expect.poll(() => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), { timeout: 10_000 }).toBe(false)
})
