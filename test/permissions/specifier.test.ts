import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import type { JsonObject } from '../../src/core/json.ts'
import { narrow } from '../../src/core/narrow.ts'
import { allows } from '../../src/permissions/specifier.ts'
import { readFunctions } from '../../src/tools/reading/index.ts'
import { grantOf } from './grant-of.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-permissions-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))
const root = join(top, 'root')
const FILES = ['src/a.ts', 'src/.env', 'src/deep/.git-like/b.ts', 'src/[id].ts', 'srcs/a.ts', 'secret/key', '.env', '..odd', 'a.ts']
for (const file of FILES) {
  mkdirSync(join(root, file, '..'), { recursive: true })
  writeFileSync(join(root, file), '')
}
mkdirSync(join(top, 'outside'))
writeFileSync(join(top, 'outside/x'), '')
symlinkSync('../secret/key', join(root, 'src/key'))
symlinkSync('../secret', join(root, 'src/secrets'))
symlinkSync(join(top, 'outside'), join(root, 'src/out'))
symlinkSync('src', join(root, 'alias'))
symlinkSync('loop', join(root, 'src/loop'))

/** Whether a call of one tool, limited by these layers, goes through. */
const may = (tool: string, layers: readonly (readonly string[])[], input: JsonObject) =>
  allows({ name: tool, effect: 'read', only: layers }, input, grantOf({ root }))

/** tool, its specifiers, a call's input, whether it goes through. */
const TABLE: readonly (readonly [what: string, tool: string, only: readonly string[], input: JsonObject, allowed: boolean])[] = [
  ['a file in the folder', 'read', ['src/**'], { path: 'src/a.ts' }, true],
  ['a dot file', 'read', ['src/**'], { path: 'src/.env' }, true],
  ['a file in a dot folder', 'read', ['src/**'], { path: 'src/deep/.git-like/b.ts' }, true],
  ['a dot file by its ending', 'read', ['**/*.ts'], { path: 'src/deep/.git-like/b.ts' }, true],
  ['a dot file at the top', 'read', ['*'], { path: '.env' }, true],
  ['a file whose name begins with two dots', 'read', ['*'], { path: '..odd' }, true],
  ['the folder itself', 'ls', ['src/**'], { path: 'src' }, true],
  ['the folder itself with a slash', 'ls', ['src/**'], { path: 'src/' }, true],
  ['the folder itself, among several', 'ls', ['{src,lib}/**'], { path: 'src' }, true],
  ['the root, which is everything', 'ls', ['**'], {}, true],
  ['a specifier that begins with ./', 'read', ['./src/**'], { path: './src/a.ts' }, true],
  ['any specifier of a layer', 'read', ['lib/**', 'src/*.ts'], { path: 'src/a.ts' }, true],
  ['a file that is not there yet', 'read', ['src/**'], { path: 'src/new/x.ts' }, true],
  ['an absolute path inside', 'read', ['src/**'], { path: join(root, 'src/a.ts') }, true],
  ['.. that stays inside', 'read', ['src/**'], { path: 'srcs/../src/a.ts' }, true],
  ['brackets that are escaped', 'read', ['src/\\[id\\].ts'], { path: 'src/[id].ts' }, true],

  ['a folder whose name begins alike', 'read', ['src/**'], { path: 'srcs/a.ts' }, false],
  ['another folder', 'read', ['src/**'], { path: 'secret/key' }, false],
  ['the root', 'ls', ['src/**'], {}, false],
  ['a deeper file than one star', 'read', ['src/*'], { path: 'src/deep/x.ts' }, false],
  ['.. out of the folder', 'read', ['src/**'], { path: 'src/../secret/key' }, false],
  ['.. out of the root', 'read', ['**'], { path: '../outside/x' }, false],
  ['the folder above the root', 'ls', ['**'], { path: '..' }, false],
  ['an absolute path outside', 'read', ['**'], { path: join(top, 'outside/x') }, false],
  ['a specifier that names a place outside', 'read', [join(top, 'outside/**'), '../outside/**'], { path: '../outside/x' }, false],
  ['a link to a file elsewhere in the root', 'read', ['src/**'], { path: 'src/key' }, false],
  ['a link to a folder elsewhere in the root', 'ls', ['src/**'], { path: 'src/secrets' }, false],
  ['a file behind such a link', 'read', ['src/**'], { path: 'src/secrets/key' }, false],
  ['a link out of the root', 'read', ['**'], { path: 'src/out/x' }, false],
  ['the folder by another name that is not granted', 'read', ['src/**'], { path: 'alias/a.ts' }, false],
  ['the folder by a name that is granted, leading where nothing is', 'read', ['alias/**'], { path: 'alias/a.ts' }, false],
  ['a link both of whose ends are granted', 'read', ['alias/**', 'src/**'], { path: 'alias/a.ts' }, true],
  ['a leading ! does not turn a limit around', 'read', ['!secret/**'], { path: 'a.ts' }, false],
  ['a NUL byte is no way out', 'grep', ['src/*'], { path: 'src/a.ts\0/../../secret' }, false],

  ['a glob in the folder', 'glob', ['src/**'], { path: 'src', pattern: '**/*' }, true],
  ['a glob everywhere, when everything is granted', 'glob', ['**'], { pattern: '**/*' }, true],
  ['a glob that climbs', 'glob', ['src/**'], { path: 'src', pattern: '../secret/*' }, false],
  ['a glob that climbs in its middle', 'glob', ['src/**'], { path: 'src', pattern: 'deep/../../secret/*' }, false],
  ['a glob that climbs with backslashes', 'glob', ['src/**'], { path: 'src', pattern: '..\\secret\\*' }, false],
  ['a glob from the root into the folder', 'glob', ['src/**'], { pattern: 'src/**' }, false],
  ['a glob below a folder of which only the first level is granted', 'glob', ['src/*'], { path: 'src/deep', pattern: '**' }, false],
  ['a search of a folder', 'grep', ['src/**'], { path: 'src', pattern: 'x' }, true],
  ['a search of one file', 'grep', ['src/*.ts'], { path: 'src/a.ts', pattern: 'x' }, true],
  ['a search for two dots, which is no path', 'grep', ['src/**'], { path: 'src', pattern: '../core' }, true],
  ['a search whose glob climbs', 'grep', ['src/**'], { path: 'src', pattern: 'x', glob: '../secret/*' }, false],
  ['a search below a folder of which only the first level is granted', 'grep', ['src/*'], { path: 'src/deep', pattern: 'x' }, false],
  ['a search from the root', 'grep', ['src/**'], { pattern: 'x' }, false],
]

describe('GRA-04: a specifier grants only calls that match', () => {
  for (const [what, tool, only, input, allowed] of TABLE) {
    test(`${tool} of ${what} is ${allowed ? 'let through' : 'refused'} by ${only.join(' or ').replaceAll(top, '<above>')}`, () => {
      expect(may(tool, [only], input)).toBe(allowed)
    })
  }

  test('a call must pass every layer, and more layers never let more through', () => {
    const layers = [['src/**'], ['**/*.ts', 'secret/**'], ['!x', '**/[ab].*']]
    expect(may('read', layers, { path: 'src/a.ts' })).toBe(true)
    expect(may('read', layers, { path: 'src/[id].ts' })).toBe(false)
    expect(may('read', layers, { path: 'secret/key' })).toBe(false)
    expect(may('read', layers, { path: 'a.ts' })).toBe(false)
    const layer = fc.array(fc.constantFrom('**', '*', 'src/**', 'src/*', '**/*.ts', '**/.env', 'secret/**', '{src,secret}/*'), { minLength: 1, maxLength: 3 })
    fc.assert(fc.property(fc.array(layer, { minLength: 1, maxLength: 3 }), layer, fc.constantFrom(...FILES), (above, more, path) => {
      if (may('read', [...above, more], { path })) expect(may('read', above, { path }) && may('read', [more], { path })).toBe(true)
    }))
  })

  test('no layer at all lets every call through; a tool that reads no path has no specifier that fits', () => {
    expect(may('read', [], { path: '../outside/x' })).toBe(true)
    expect(allows({ name: 'blame', effect: 'delegate', only: [['src/**']] }, { path: 'src/a.ts' }, grantOf({ root }))).toBe(false)
  })

  test('a limit of a parent and one of its child are two layers', () => {
    const parent = grantOf({ root, tools: [{ name: 'read', effect: 'read', only: [['src/**']] }] })
    const child = narrow(parent, { name: 'child', tools: ['Read(**/*.ts)'], disallowedTools: [], mode: 'build', readOnly: false, trusted: true, program: null } as never).grant
    const [tool] = child.tools
    expect(tool?.only).toEqual([['src/**'], ['**/*.ts']])
    expect(['src/a.ts', 'src/.env', 'a.ts'].map((path) => tool && allows(tool, { path }, child))).toEqual([true, false, false])
  })
})

test('GRA-04, TOO-04: a pattern means the same as a specifier and as a glob: what glob lists, read is granted', async () => {
  for (const pattern of ['**', '*', '**/*', 'src/**', 'src/*', '**/*.ts', '.*', '**/.*', '**/.*/**', 'src/{a,.env}*', 'src/**/b.ts', '@(src|secret)/*', 'src/\\[id\\].ts', '?.ts']) {
    const { text } = await readFunctions.glob({ pattern, ignored: true }, { root, paths: [], form: 'data', stopped: () => false })
    const listed = (JSON.parse(text) as { readonly paths: readonly string[] }).paths
    expect([pattern, FILES.filter((path) => may('read', [[pattern]], { path })).toSorted()]).toEqual([pattern, listed])
  }
})
