import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import type { Json } from '../../src/core/json.ts'
import { folderWith } from './folder.ts'
import { closePrograms, runProgram } from './harness.ts'

afterAll(closePrograms)

type Graph = {
  findings: { file: string; line: number; message: string; kind: string }[]
  files: number
  imports: number
  cycles: string[][]
  orphans: string[]
  mostImported: { file: string; importedBy: number }[]
  summary: string
}
const graph = async (files: Readonly<Record<string, string>>, prompt: Json = ''): Promise<Graph> => (await runProgram('import-graph', folderWith(files), prompt)).value as unknown as Graph

describe('import-graph: cycles', () => {
  test('each cycle is one finding, at the import that leads into it', async () => {
    const found = await graph({
      'src/index.ts': `import './a.js'\nimport './alone.js'\n`,
      'src/a.ts': `// first\nimport { b } from './b.js'\nexport const a = b\n`,
      'src/b.ts': `export * from './c'\n`,
      'src/c.ts': `const a = require('./a')\nexport const c = a\n`,
      'src/alone.ts': `import './alone'\n`,
    })
    expect(found.cycles).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts'], ['src/alone.ts']])
    expect(found.findings).toEqual([
      { file: 'src/a.ts', line: 2, message: 'Import cycle: src/a.ts → src/b.ts → src/c.ts → src/a.ts', kind: 'cycle' },
      { file: 'src/alone.ts', line: 1, message: 'Import cycle: src/alone.ts → src/alone.ts', kind: 'cycle' },
    ])
    expect(found.summary).toBe('5 files, 6 imports: 2 cycles, 0 orphans, 0 imports that lead nowhere')
  })

  test('files that depend on each other in many ways are covered by short cycles', async () => {
    const found = await graph({ 'a.ts': `import './b'\nimport './c'`, 'b.ts': `import './a'`, 'c.ts': `import './d'`, 'd.ts': `import './a'\nimport './c'` })
    expect(found.cycles).toEqual([['a.ts', 'b.ts'], ['c.ts', 'd.ts']])
    expect(found.findings[0]?.message).toBe('Import cycle: a.ts → b.ts → a.ts (4 files depend on each other)')
  })

  test('imports of types, dynamic imports and references make no cycle', async () => {
    const found = await graph({
      'a.ts': `import type { B } from './b'\nimport { type C, type D } from './b'\nexport type { E } from './b'\nexport type * from './b'\nexport const lazy = () => import('./b')\nnew URL('./b.ts', import.meta.url)\nexport type X = typeof import('./b')\n`,
      'b.ts': `import { lazy } from './a'\nexport type B = typeof lazy`,
    })
    expect(found.cycles).toEqual([])
    expect(found.mostImported).toEqual([{ file: 'a.ts', importedBy: 1 }, { file: 'b.ts', importedBy: 1 }])
  })

  test('names that look like the keyword `type` or `from` are names', async () => {
    const found = await graph({ 'a.ts': `import type from './b'\n`, 'b.ts': `import type, { from } from './c'\n`, 'c.ts': `import { type } from './a'\nimport { type as from } from './a'\n` })
    expect(found.cycles).toEqual([['a.ts', 'b.ts', 'c.ts']])
  })

  test('a chain of 2,000 files and a ring of 1,000 are no trouble', async () => {
    const root = folderWith({})
    await Promise.all(['chain', 'ring'].map((folder) => mkdir(join(root, folder))))
    await Promise.all(Array.from({ length: 2_000 }, (_, at) => writeFile(join(root, `chain/f${at}.ts`), `import './f${at + 1}'\n`)))
    await Promise.all(Array.from({ length: 1_000 }, (_, at) => writeFile(join(root, `ring/f${at}.ts`), `import './f${(at + 1) % 1_000}'\n`)))
    await writeFile(join(root, 'chain/f2000.ts'), '')
    const found = (await runProgram('import-graph', root, '')).value as unknown as Graph
    expect(found.cycles.map((cycle) => cycle.length)).toEqual([1_000])
    expect(found.files).toBe(3_001)
  }, 60_000)
})

describe('import-graph: only real imports count', () => {
  const nothing: readonly [string, string][] = [
    ['a line comment', `// import './b'`],
    ['a block comment', `/* \nimport './b'\n*/`],
    ['a string', `const s = "import './b'"\nconst t = 'require("./b")'`],
    ['a template', 'const s = `\nimport "./b"\n`'],
    ['a template in a template', 'const s = `${f(`import "./b"`)} import "./b" ${`}`}`'],
    ['a regular expression', `const r = /import '.\\/b'[/"]require("./b")/`],
    ['a property', `x.import('./b')\nx.require('./b')`],
    ['a computed name', 'import(name)\nrequire(`./${name}`)\nimport(`./${name}.ts`)'],
    ['import.meta', `import.meta.resolve`],
    ['an exported value', `export const from = './b'\nexport { from }\nconst x = './b'`],
    ['an escaped quote', `const s = 'it\\'s import "./b"'`],
    ['JSX text with an apostrophe', `const x = <p>Don't import './b'</p>`],
  ]
  for (const [name, code] of nothing) {
    test(`nothing is imported by ${name}`, async () => {
      expect((await graph({ 'a.tsx': `${code}\n`, 'b.ts': '' })).imports).toBe(0)
    })
  }

  const something: readonly [string, string][] = [
    ['a static import', `import b from './b'`],
    ['an import over many lines with comments in it', `import {\n  // from './no'\n  b, /* } from './no' */\n  c as d,\n} from\n  './b'`],
    ['an import without spaces', `import{b}from"./b";`],
    ['several on one line', `let x=1;import*as b from'./b';foo()`],
    ['attributes behind it', `import b from './b' with { type: 'json' }`],
    ['an import behind a regular expression', `const r = /['"\`]/g\nimport './b'`],
    ['an import behind a division', `const x = a / b / c; import './b'`],
    ['an import behind a template', 'const x = `${a}${`${b}`}`\nimport "./b"'],
    ['an import behind an open quote in JSX', `const x = <p>Don't</p>\nimport './b'`],
    ['export from', `export { default as b, type C } from './b'`],
    ['export as namespace', `export * as b from './b'`],
    ['export default from a default', `export { default } from './b'`],
    ['require', `const { b } = require( './b' )`],
    ['import equals', `import b = require('./b')`],
    ['a dynamic import over lines', `await import(\n  /* webpackChunkName: "b" */\n  './b'\n)`],
    ['a template without holes', 'import(`./b`)'],
    ['require.resolve', `require.resolve('./b')`],
    ['a string name', `import { 'a b' as b } from './b'`],
    ['a shebang before it', `#!/usr/bin/env node\nimport './b'`],
    ['a byte order mark before it', `\ufeffimport './b'`],
    ['Windows line ends', `// x\r\nimport './b'\r\n`],
    ['jsx with an import attribute', `const x = <A import={1} />\nimport './b'`],
  ]
  for (const [name, code] of something) {
    test(`one file is imported by ${name}`, async () => {
      const found = await graph({ 'a.tsx': `${code}\n`, 'b.ts': '' })
      expect(found.mostImported).toEqual([{ file: 'b.ts', importedBy: 1 }])
    })
  }

  test('scripts of Vue and Svelte files count, and keep their line numbers', async () => {
    const found = await graph({ 'a.vue': `<template>\n  import './no'\n</template>\n<script setup lang="ts">\nimport b from './b'\n</script>\n`, 'b.svelte': `<script>\n\nimport A from './a.vue'\n</script>\n<p>import './no'</p>` })
    expect(found.findings).toEqual([{ file: 'a.vue', line: 5, message: 'Import cycle: a.vue → b.svelte → a.vue', kind: 'cycle' }])
  })
})

describe('import-graph: where an import leads', () => {
  const resolutions: readonly [string, string, string, Readonly<Record<string, string>>][] = [
    ['an extension', './b', 'src/b.tsx', {}],
    ['.js written for .ts', './b.js', 'src/b.ts', {}],
    ['.mjs written for .mts', './b.mjs', 'src/b.mts', {}],
    ['an index file', './b', 'src/b/index.ts', {}],
    ['a folder with a slash', './b/', 'src/b/index.js', {}],
    ['the folder above', '..', 'index.ts', {}],
    ['dots in a name', './b.service', 'src/b.service.ts', {}],
    ['a query', './b.ts?raw', 'src/b.ts', {}],
    ['json', './b.json', 'src/b.json', {}],
    ['paths of tsconfig, with comments and a trailing comma', '@/b', 'src/b.ts', { 'tsconfig.json': '{ // comment\n "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["./src/*"], } } }' }],
    ['paths of a configuration it extends', '~b', 'src/b.ts', { 'tsconfig.json': '{ "extends": "./tsconfig.base" }', 'tsconfig.base.json': '{"compilerOptions": {"paths": {"~b": ["src/b.ts"]}}}' }],
    ['baseUrl', 'lib/b', 'src/lib/b.ts', { 'tsconfig.json': '{"compilerOptions":{"baseUrl":"src"}}' }],
    ['imports of package.json', '#b', 'src/b.ts', { 'package.json': '{"imports": {"#*": "./src/*.ts"}}' }],
    ['a package of the workspace', '@my/b', 'packages/b/src/index.ts', { 'packages/b/package.json': '{"name":"@my/b","exports":{".":{"import":"./dist/index.js"}}}' }],
    ['a part of a package of the workspace', '@my/b/part', 'packages/b/src/part.ts', { 'packages/b/package.json': '{"name":"@my/b"}' }],
    ['a package’s main', 'b-main', 'packages/b/lib/start.js', { 'packages/b/package.json': '{"name":"b-main","main":"lib/start"}' }],
  ]
  for (const [name, specifier, target, more] of resolutions) {
    test(`${name}: ${specifier} is ${target}`, async () => {
      const found = await graph({ 'src/a.ts': `import x from '${specifier}'\n`, [target]: '', ...more })
      expect(found.mostImported).toEqual([{ file: target, importedBy: 1 }])
      expect(found.findings.filter(({ kind }) => kind === 'unresolved')).toEqual([])
    })
  }

  test('relative imports that lead nowhere are found; packages and what git ignores are not', async () => {
    const found = await graph({
      'a.ts': `import './gone'\nimport 'react'\nimport 'node:fs'\nimport './generated/client'\nimport '../outside'\nexport * from './b/none.js'\nimport './style.css'\n`,
      '.gitignore': 'generated\n', 'generated/client.ts': '', 'b/x.ts': '', 'style.css': '',
    })
    expect(found.findings.filter(({ kind }) => kind === 'unresolved').map(({ file, line, message }) => [file, line, message])).toEqual([
      ['a.ts', 1, 'Import of "./gone" leads nowhere'], ['a.ts', 6, 'Import of "./b/none.js" leads nowhere'],
    ])
  })
})

describe('import-graph: orphans', () => {
  test('what exports something nothing imports is one, unless it is an entry point', async () => {
    const exported = 'export const x = 1\n'
    const found = await graph({
      'package.json': '{"bin": {"x": "dist/cli/run.js"}, "main": "./lib/entry.js", "scripts": {"build": "node build/make.ts --fast"}}',
      'src/cli/run.ts': exported, 'src/entry.ts': exported, 'build/make.ts': exported, 'src/index.ts': exported,
      'src/used.ts': exported, 'src/user.ts': `import { x } from './used'\n`,
      'src/orphan.ts': exported, 'src/old.cjs': 'module.exports = 1\n', 'src/lonely/index.ts': exported,
      'src/a.test.ts': exported, 'vite.config.ts': exported, 'types.d.ts': exported, 'scripts/x.ts': exported, 'src/tool.js': `#!/usr/bin/env node\n${exported}`,
      'web/page.html': '<script type="module" src="./page-main.ts"></script>', 'web/page-main.ts': exported,
      'src/thread.ts': exported, 'src/starts.ts': `new Worker(new URL('./thread.ts', import.meta.url))\n`,
    })
    expect(found.orphans).toEqual(['src/lonely/index.ts', 'src/old.cjs', 'src/orphan.ts'])
    expect(found.findings.every(({ kind, message }) => kind === 'orphan' && message === 'Nothing imports this file')).toBe(true)
  })
})

describe('import-graph: what it is asked', () => {
  const tree = { 'src/a.ts': `import './b'\n`, 'src/b.ts': `import './a'\n`, 'lib/c.ts': `import '../src/a'\nexport const c = 1\n`, 'index.ts': '' }

  test('a folder, a file or the items of a sweep narrow the findings, never the graph', async () => {
    for (const [prompt, kinds] of [['', ['cycle', 'orphan']], ['src', ['cycle']], ['lib/', ['orphan']], ['lib/c.ts', ['orphan']], ['Are there cycles in src/a.ts?', ['cycle']], [{ items: [{ item: 'src/b.ts' }] }, []], [{ items: ['src/a.ts', './lib/c.ts'] }, ['cycle', 'orphan']]] as const) {
      const found = await graph(tree, prompt)
      expect([prompt, found.findings.map(({ kind }) => kind)]).toEqual([prompt, kinds])
      expect(found.files).toBe(4)
    }
    await expect(graph(tree, 'nope')).rejects.toThrow('No such file or folder: nope')
  })

  test('a tree without JavaScript is no trouble', async () => {
    expect((await graph({ 'README.md': 'x' })).summary).toBe('0 files, 0 imports: 0 cycles, 0 orphans, 0 imports that lead nowhere')
  })
})
