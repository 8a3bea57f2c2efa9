import { afterAll, describe, expect, test } from 'vitest'

import { folderWith } from './folder.ts'
import { closePrograms, runProgram } from './harness.ts'

afterAll(closePrograms)

type Findings = { findings: { file: string; kind: string }[]; mostImported: { file: string }[] }
const run = async (name: string, files: Readonly<Record<string, string>>): Promise<Findings> =>
  (await runProgram(name, folderWith(files), '')).value as unknown as Findings
const places = ({ findings }: Findings) => findings.map(({ file, kind }) => `${kind} ${file}`)

describe('what published packages look like is no finding', () => {
  test('import-graph: what runs is imported, not the declarations beside it, and declarations make no cycle', async () => {
    const found = await run('import-graph', {
      'lib/index.js': `require('./a')\n`, 'lib/a.js': `exports.a = require('./b')\n`, 'lib/b.js': 'exports.b = 1\n',
      'lib/a.d.ts': `import { B } from './b'\nexport type A = B\n`, 'lib/b.d.ts': `import { A } from './a.js'\nexport type B = A\nexport * from './c.ts'\n`,
      'lib/c.d.ts': 'export type C = 1\n',
    })
    expect(places(found)).toEqual([])
    expect(found.mostImported.map(({ file }) => file).toSorted()).toEqual(['lib/a.js', 'lib/b.js', 'lib/c.d.ts'])
  })

  test('import-graph: names inside a bundle lead nowhere outside it', async () => {
    expect(places(await run('import-graph', { 'dist/all.min.js': `(function(){})({"/":[function(require,module,exports){\nrequire('./lib/inside')\n}]})` }))).toEqual([])
    expect(places(await run('import-graph', { 'dist/index.js': `define(function (require, exports, module) { require('./inside') })` }))).toEqual(['unresolved dist/index.js'])
  })

  test('import-graph: a pattern of exports names entry points, and so does a built file together with its source', async () => {
    expect(places(await run('import-graph', {
      'package.json': JSON.stringify({ name: 'p', exports: { './features/*': './dist/features/*.js', './extra': './dist/extra/index.js' } }),
      'src/features/one.ts': 'export const one = 1\n', 'dist/features/one.js': 'export const one = 1\n',
      'src/extra/index.ts': 'export const extra = 1\n', 'dist/extra/index.js': 'export const extra = 1\n',
      'src/lost.ts': 'export const lost = 1\n',
    }))).toEqual(['orphan src/lost.ts'])
  })

  test('doc-links: the table of all-contributors links to anchors that nobody means to exist', async () => {
    const row = '<td><a href="#infra-ada">infra</a> [design](#design-ada)</td>'
    expect(places(await run('doc-links', { 'README.md': `# Title\n\n<!-- ALL-CONTRIBUTORS-LIST:START -->\n${row}\n<!-- ALL-CONTRIBUTORS-LIST:END -->\n\n[dead](#design-ada)\n` }))).toEqual(['anchor README.md'])
  })
})
