import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { afterAll, expect, test } from 'vitest'

const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'cli')
const places: string[] = []
afterAll(() => { for (const place of places) rmSync(place, { recursive: true }) })

/** Makes the Node that loads it say that it is version 20.20.2. */
const PRETEND_OLD = `data:text/javascript,${encodeURIComponent(
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`,
)}`

/** A tree with the command's first two files and a `cli.ts` of the test's own; `pinned`: with a Node of its own, like a checkout. */
function installation(cli: string, { pinned }: { pinned: boolean }) {
  const place = mkdtempSync(join(tmpdir(), 'cadre-bin-'))
  places.push(place)
  mkdirSync(join(place, 'src', 'cli'), { recursive: true })
  for (const file of ['bin.ts', 'main.ts']) copyFileSync(join(SOURCE, file), join(place, 'src', 'cli', file))
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(place, 'src', 'cli', 'cli.ts'), cli)
  if (pinned) {
    mkdirSync(join(place, 'node_modules', 'node', 'bin'), { recursive: true })
    symlinkSync(process.execPath, join(place, 'node_modules', 'node', 'bin', 'node'))
  }
  return (file: 'bin.ts' | 'main.ts', argv: readonly string[] = []) => {
    const child = spawn(process.execPath, ['--import', PRETEND_OLD, join(place, 'src', 'cli', file), ...argv], { stdio: 'pipe' })
    const exit = new Promise(resolve => child.on('exit', (code, signal) => resolve(signal ?? code)))
    return { child, exit, stdout: text(child.stdout), stderr: text(child.stderr) }
  }
}

const ECHO = `
export async function main(argv) {
  for await (const chunk of process.stdin) process.stdout.write(chunk)
  console.log(argv.join('|'), Number.parseInt(process.versions.node) >= 24)
  return 7
}`

const WAIT = `
export async function main() {
  process.stdout.write('up')
  await new Promise(resolve => setTimeout(resolve, 60_000))
  return 0
}`

const LINE = /^Cadre needs Node 24 or newer \(this is 20\.20\.2\): install .+\n$/

for (const [title, file, pinned] of [
  ['the script started by hand in a checkout', 'main.ts', true],
  ['the published command', 'bin.ts', false],
] as const) {
  test(`on Node 20 ${title} says what to install and exits with 2`, async () => {
    const { child, exit, stdout, stderr } = installation(ECHO, { pinned })(file)
    child.stdin.end()
    expect(await exit).toBe(2)
    expect(await stdout).toBe('')
    expect(await stderr).toMatch(LINE)
  })
}

test('on Node 20 the command of a checkout hands arguments, streams and exit code over to the pinned Node', async () => {
  const { child, exit, stdout, stderr } = installation(ECHO, { pinned: true })('bin.ts', ['-p', 'two words', ''])
  child.stdin.end('from stdin\n')
  expect(await exit).toBe(7)
  expect(await stderr).toBe('')
  expect(await stdout).toBe('from stdin\n-p|two words| true\n')
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`on Node 20 ${signal} to the command of a checkout ends the pinned Node, and is how the command ends`, async () => {
    const { child, exit } = installation(WAIT, { pinned: true })('bin.ts')
    await new Promise(resolve => child.stdout.once('data', resolve))
    child.kill(signal)
    expect(await exit).toBe(signal)
  })
}
