import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

import type { Json } from '../../src/core/json.ts'
import { loadTypes } from '../../src/definitions/registry.ts'
import { narrowRoot } from '../../src/root-run.ts'
import { rootGrant } from '../../src/core/narrow.ts'
import { folderWith } from './folder.ts'
import type { ProgramRun } from './harness.ts'
import { closePrograms, runProgram } from './harness.ts'
import { SOAK } from '../soak.ts'
import { gitGrepPlaces, nastyTree } from './nasty-tree.ts'

afterAll(closePrograms)

const FILES = 5_000
const PER_FOLDER = 50
const TEXT_CHARS = 1_000_000
const TIMEOUT_MS = 120_000
/** What a run without a word about turns may take: the programs are to stay below it on trees like these. */
const DEFAULT_TURNS = 50

const folderWithMany = (path: (index: number) => string, text: (index: number) => string): string =>
  folderWith(Object.fromEntries(Array.from({ length: FILES }, (_, index) => [path(index), text(index)])))
const inFolder = (index: number, name: string): string => `m${Math.floor(index / PER_FOLDER)}/${name}`
const valueOf = ({ value }: ProgramRun) => value as unknown as { findings: { file: string; line: number; message: string }[]; summary: string; unblamed?: number; leftOut?: number }

describe('todo-audit finds exactly the lines git grep finds in a tree made of odd bytes, names, line ends and links', () => {
  for (const seed of SOAK ? [2, 3, 4, 5] : [3]) {
    test(`seed ${seed}`, { timeout: TIMEOUT_MS }, async () => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-nasty-')))
      onTestFinished(() => rmSync(root, { recursive: true, force: true }))
      nastyTree(root, 120, seed)
      const { findings } = valueOf(await runProgram('todo-audit', root, ''))
      expect(findings.map(({ file, line }) => `${file}:${line}`).toSorted()).toEqual(gitGrepPlaces(root))
    })
  }
})

describe(`a tree of ${FILES.toLocaleString('en')} files is one run of few turns`, () => {
  test('todo-audit: all findings, with authors for the first 2,000 files', { timeout: TIMEOUT_MS }, async () => {
    const root = folderWithMany((index) => inFolder(index, `f${index}.ts`), (index) => `// TODO: thing ${index}\n`)
    const asked: number[] = []
    const run = await runProgram('todo-audit', root, '', {
      // git has a test of its own: what counts here is how often it is asked.
      instead: ({ name, input }) => (name === 'blame' && asked.push(1) > 0 ? blamed(input) : null),
    })
    const { findings, summary, unblamed } = valueOf(run)
    expect(findings.length).toBe(FILES)
    expect(summary).toMatch(/^5000 TODO, 0 FIXME and 0 HACK in 5000 files/)
    expect([asked.length, unblamed, findings.filter(({ message }) => message.includes('(Ada, ')).length]).toEqual([2_000, 3_000, 2_000])
    expect(run.turns).toBeLessThan(DEFAULT_TURNS)
  })

  test('secret-scan: the few secrets among many lines that name one', { timeout: TIMEOUT_MS }, async () => {
    const secret = 'kG7#pLq29x-Zw'
    const root = folderWithMany((index) => inFolder(index, `f${index}.ts`), (index) =>
      `const token = getToken(value1)\nconst apiKey = process.env.API_KEY\n${index % 1_000 === 7 ? `const password = '${secret}'\n` : ''}`)
    const run = await runProgram('secret-scan', root, '')
    expect(valueOf(run).findings.map(({ file, line }) => `${file}:${line}`).toSorted()).toEqual(['m0/f7.ts:3', 'm20/f1007.ts:3', 'm40/f2007.ts:3', 'm60/f3007.ts:3', 'm80/f4007.ts:3'])
    expect(JSON.stringify(run.value)).not.toContain(secret)
    expect(run.outcomes.map(({ text }) => text).join('')).not.toContain('getToken')
    expect(run.turns).toBeLessThan(DEFAULT_TURNS)
  })

  test('import-graph: every import, and the one cycle', { timeout: TIMEOUT_MS }, async () => {
    const root = folderWithMany((index) => inFolder(index, `f${index}.ts`), (index) => {
      const next = (index + 1) % FILES
      return `import { f${next} } from '../${inFolder(next, `f${next}`)}'\nexport const f${index} = () => f${next}\n`
    })
    const run = await runProgram('import-graph', root, '')
    expect(valueOf(run).summary).toBe('5000 files, 5000 imports: 1 cycle, 0 orphans, 0 imports that lead nowhere')
    expect(run.turns).toBeLessThan(DEFAULT_TURNS)
  })

  test('doc-links: every link, and the dead ones', { timeout: TIMEOUT_MS }, async () => {
    const root = folderWithMany((index) => inFolder(index, `d${index}.md`), (index) =>
      `# Page ${index}\n\n[next](../${inFolder((index + 1) % FILES, `d${(index + 1) % FILES}.md`)}#page-${(index + 1) % FILES}) and [gone](${index === 4_321 ? 'gone.md' : '#page-' + String(index)})\n`)
    const run = await runProgram('doc-links', root, '')
    expect(valueOf(run).findings).toEqual([expect.objectContaining({ file: inFolder(4_321, 'd4321.md'), line: 3, target: 'gone.md' })])
    expect(valueOf(run).summary).toBe('1 dead link among 10000 in 5000 files')
    expect(run.turns).toBeLessThan(DEFAULT_TURNS)
  })
})

describe('PRG-04: more text than the heap of 128 MB holds goes through it', () => {
  const files = (name: string, text: string): string => folderWith(Object.fromEntries(Array.from({ length: 150 }, (_, index) => [name.replace('*', String(index)), text])))

  test('import-graph keeps the imports of a file, not its text', { timeout: TIMEOUT_MS }, async () => {
    const root = files('f*.ts', `import { a } from './a-name-long-enough-to-be-a-piece-of-its-text'\nexport const b = a\n/*${` ${'x'.repeat(99)}\n`.repeat(TEXT_CHARS / 100)}*/\n`)
    expect(valueOf(await runProgram('import-graph', root, '')).summary).toMatch(/^150 files, 0 imports: 0 cycles, 150 orphans, 150 imports that lead nowhere$/)
  })

  test('doc-links keeps the links and headings of a file, not its text', { timeout: TIMEOUT_MS }, async () => {
    const root = files('d*.md', `# A heading that is long enough to be a piece\n\n[a link](a-name-long-enough-to-be-a-piece-of-its-text.md)\n\n~~~\n${`${'x'.repeat(999)}\n`.repeat(TEXT_CHARS / 1_000)}~~~\n`)
    expect(valueOf(await runProgram('doc-links', root, '')).summary).toBe('150 dead links among 150 in 150 files')
  })
})

for (const name of ['todo-audit', 'secret-scan']) {
  test(`${name} searches a folder entry by entry when it takes too long as a whole`, async () => {
    const line = name === 'todo-audit' ? '// TODO: later\n' : 'const password = \'kG7#pLq29x-Zw\'\n'
    const root = folderWith({ 'top.ts': line, 'a/one.ts': line, 'a/b/two.ts': line, 'c/none.ts': 'export {}\n' })
    const run = await runProgram(name, root, '', {
      instead: ({ name: tool, input }) => (tool === 'grep' && pathIn(input) === '.' ? JSON.stringify({ matches: [], files: 0, more: false, stopped: true }) : null),
    })
    expect(valueOf(run).findings.map(({ file }) => file).toSorted()).toEqual(['a/b/two.ts', 'a/one.ts', 'top.ts'])
  })
}

test('files that cannot be read are counted, and only the first of them logged', async () => {
  const video = Buffer.from([71, 0, 0, 0])
  const root = folderWith({ 'a.ts': 'export const a = 1\n', ...Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`segments-of-a-recording/segment-number-${index}.ts`, video])) })
  expect(valueOf(await runProgram('import-graph', root, '')).leftOut).toBe(2_000)
})

test('KIN-11: as main agents the built-in programs have more turns than a run has by default', async () => {
  const root = folderWith({})
  const types = await loadTypes({
    root, cwd: root, mainCheckout: null, home: `${root}/home`, userHome: root,
    claudeFolders: true, plugins: [], code: null, trusted: false, onDiagnostic() {}, onReload() {},
  })
  onTestFinished(() => types.close())
  const tools = ['read', 'ls', 'glob', 'grep', 'blame'].map((name) => ({ name, effect: 'read' as const }))
  const grant = rootGrant({ tools, root, mode: 'default', maxDepth: 2, maxTurns: DEFAULT_TURNS, timeout: 3_600 })
  for (const name of ['todo-audit', 'secret-scan', 'import-graph', 'doc-links']) {
    expect(narrowRoot(grant, { type: types.require(name) }).grant.limits.maxTurns).toBe(10_000)
  }
})

function blamed(input: Json): string {
  const { lines } = input as { lines: readonly number[] }
  return JSON.stringify(lines.map((line) => ({ line, author: 'Ada', time: 0, commit: 'c'.repeat(40) })))
}

const pathIn = (input: Json): unknown => (typeof input === 'object' && input !== null && 'path' in input ? input['path'] : undefined)
