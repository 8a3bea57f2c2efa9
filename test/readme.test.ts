import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { agent, cliPlace, MAIN } from './cli/place.ts'
import { startProviderServer } from './server/provider-server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Every command of the README's shell blocks, without its comment. */
const COMMANDS = [...README.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter(Boolean)

/** The agent type that carries a program. */
const PROGRAM = /^````md\n(.*?)^````$/ms.exec(README)?.[1] ?? ''

/** A small repository with something for each command to find, and a model that answers. */
async function project() {
  const server = await startProviderServer({ script: () => ({ text: 'Nothing to report.' }) })
  onTestFinished(() => server.close())
  const place = cliPlace({
    'project/src/a.ts': 'import { b } from \'./b.ts\'\n// TODO: one\nexport const a = b\n',
    'project/src/b.ts': 'import { a } from \'./a.ts\'\nexport const b = a\n',
    'project/.cadre/agents/reader.md': agent('reader', 'tools: Read\n'),
    'project/.cadre/agents/long-files.md': PROGRAM,
    'project/package.json': '{"license":"MIT"}',
    'project/docs/readme.md': '# Title\n[gone](missing.md)\n',
  })
  for (const args of [['init', '-q', '-b', 'main'], ['add', '-A'], ['-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'first']]) execFileSync('git', args, { cwd: place.root })
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-test', OLLAMA_HOST: server.url }
  return { ...place, sh: (command: string) => place.run('sh', ['-c', command.replace(/^npx cadre/, `"${process.execPath}" "${MAIN}"`)], { env }) }
}

/** The id of a session that has ended. */
async function aSession(sh: (command: string) => Promise<{ readonly stdout: string }>): Promise<string> {
  const { stdout } = await sh('npx cadre -p "Look around." --model ollama/qwen3 --output-format json')
  return (JSON.parse(stdout) as { session: string }).session
}

test('the README says the two commands first, and package.json has their scripts', () => {
  expect(COMMANDS.slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test'])
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  expect(scripts['start']).toMatch(/^node dist\/src\/cli\/main\.js sweep /)
  expect(scripts['test']).toBe('vitest run --project tests')
})

for (const command of COMMANDS.filter((line) => line.startsWith('npx cadre'))) {
  test(`README: ${command}`, async () => {
    const { sh } = await project()
    const run = await sh(command.includes('<session>') ? command.replace('<session>', await aSession(sh)) : command)
    expect([run.code, run.stderr.match(/^cadre: .*/gm)]).toEqual([0, null])
    expect((run.stdout + run.stderr).length).toBeGreaterThan(10)
  })
}

test('README: no command of it goes untested', () => {
  expect(COMMANDS.filter((line) => !line.startsWith('npx cadre')).slice(2)).toEqual([])
})

test('README: the program in it runs over files', async () => {
  const place = await project()
  place.write('project/src/long.ts', 'x\n'.repeat(501))
  const run = await place.sh('npx cadre sweep --agent long-files --over "src/*.ts"')
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('501 lines')])
})

test('README: the code in it runs', async () => {
  const place = await project()
  const code = (/^```ts\n(.*?)^```$/ms.exec(README)?.[1] ?? '').replace('\'cadre\'', JSON.stringify(join(ROOT, 'src/index.ts')))
  writeFileSync(join(place.root, 'main.ts'), `${code}\nconsole.log(status, output.includes('TODO: one'))\n`)
  writeFileSync(join(place.root, 'package.json'), '{"type":"module"}')
  const run = await place.run(process.execPath, ['main.ts'])
  expect([run.code, run.stdout.trim()]).toEqual([0, 'completed true'])
})
