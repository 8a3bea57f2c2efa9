import { isBuiltin } from 'node:module'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { outline } from './architecture/imports.ts'
import { BUILT } from './built.ts'
import { OWNERS, violations } from './architecture/picture.ts'

const root = dirname(import.meta.dirname)
const SOURCES = ['{src,sandbox,worktrees,test,bench,scripts}/**/*.{ts,mts,js,mjs}', '*.config.ts']

const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('every import in this repository fits the picture of the rooms in DESIGN.md', () => {
  const files = globSync(SOURCES, { cwd: root }).filter(file => !file.includes('fixtures/'))
  expect(files).toContain('src/cli/main.ts')
  expect(violations(new Map(files.map(file => [file, read(file)])))).toEqual([])
})

test('every dependency has an owner, and every owner a dependency', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const known = new Set(Object.keys({ ...dependencies, ...devDependencies }).flatMap(name => [name, name.replace(/\/.*/, '/*')]))
  expect(Object.keys(dependencies ?? {}).filter(name => !(OWNERS[name] ?? []).some(owner => owner.includes('/')))).toEqual([])
  expect(Object.keys(OWNERS).filter(name => !name.startsWith('node:') && !known.has(name))).toEqual([])
})

test('the build imports nothing that the published package does not bring', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  const built = globSync('**/*.js', { cwd: BUILT })
  expect(built).toContain('sandbox/worker.js')
  const asked = built.flatMap(file => outline(file, readFileSync(join(BUILT, file), 'utf8')).imports.map(({ specifier }) => specifier))
  const packages = asked.filter(specifier => specifier !== undefined && !/^\.|^node:/.test(specifier) && !isBuiltin(specifier))
  expect(new Set(packages)).toEqual(new Set(['piscina', 'tinypool']))
  expect(Object.keys(dependencies)).toEqual(['isolated-vm', 'piscina', 'tinypool'])
})

test('no room below the command knows of terminals: no colour, width or control sequence', () => {
  const below = globSync('{src,sandbox,worktrees}/**/*.ts', { cwd: root }).filter(file => !file.startsWith('src/cli/'))
  expect(below.length).toBeGreaterThan(100)
  expect(below.filter(file => /isTTY|styleText|stripVTControlCharacters|\\u001b|\\x1b/.test(read(file)))).toEqual([])
})

test('a sweep and the command share one function for one thing: none is exported twice under one name', () => {
  const names = globSync('src/{cli,sweep}/**/*.ts', { cwd: root })
    .filter(file => !file.startsWith('src/cli/commands/')) // each registers itself
    .flatMap(file => [...read(file).matchAll(/^export (?:async )?(?:const|function\*?) (\w+)/gm)].map(([, name = '']) => name))
    .toSorted()
  // The exit code of a summary, and that of an error.
  expect(names.filter((name, at) => name === names[at + 1])).toEqual(['exitCodeOf'])
})

/** Planted: title → the file that breaks the rule, its text, and the line that must come out. The neighbours exist and are clean. */
const NEIGHBOURS = [
  'src/index.ts', 'src/cli/cli.ts', 'src/orchestrator.ts', 'src/supervisor.ts', 'src/delegate.ts', 'src/sweep/run.ts',
  'src/journal/journal.ts', 'src/models/model.ts', 'src/tools/edit.ts', 'src/tools/reading/grep.ts',
  'src/core/contract.ts', 'src/core/grant.ts',
  'sandbox/worker.ts', 'sandbox/isolate/run.ts', 'sandbox/isolate/guest/globals.ts', 'sandbox/isolate/guest/prelude.ts',
  'worktrees/git.ts', 'worktrees/open.ts', 'test/fixture.ts',
]

const planted: Record<string, readonly [file: string, text: string, why: string]> = {
  'a room that imports upwards': ['src/journal/view.ts', `import { x } from '../orchestrator.ts'`, '../orchestrator.ts: only down'],
  'a room that imports the corridor': ['src/host/host.ts', `import { x } from '../delegate.ts'`, '../delegate.ts: only down'],
  'the library that imports the command': ['src/index.ts', `export * from './cli/cli.ts'`, './cli/cli.ts: only down'],
  'a room that imports its neighbour': [
    'src/threads/pool.ts', `import { x } from '../journal/journal.ts'`, '../journal/journal.ts: never sideways'],
  'a room that imports only a type of its neighbour': [
    'src/threads/pool.ts', `import type { X } from '../models/model.ts'`, '../models/model.ts: never sideways'],
  'a type query of a neighbour': ['src/threads/pool.ts', `type X = import('../models/model.ts').X`, '../models/model.ts: never sideways'],
  'a dynamic import of a neighbour': ['src/threads/pool.ts', `await import('../models/model.ts')`, '../models/model.ts: never sideways'],
  'a re-export of a neighbour': ['src/threads/pool.ts', `export { x } from '../models/model.ts'`, '../models/model.ts: never sideways'],
  'a room that imports worktrees': [
    'src/schedule/gate.ts', `import { x } from '../../worktrees/open.ts'`, '../../worktrees/open.ts: never sideways'],
  'core that imports a room': [
    'src/core/loop.ts', `import type { X } from '../models/model.ts'`, '../models/model.ts: core imports nothing but core'],
  'core that imports Node': ['src/core/loop.ts', `import { join } from 'node:path'`, 'node:path: core is pure'],
  'core that imports a package': ['src/core/loop.ts', `import type { z } from 'zod'`, 'zod: core is pure'],
  'core that imports a computed path': ['src/core/loop.ts', `await import(globalThis.name)`, 'import(…): a computed path'],
  'sandbox that imports a room': [
    'sandbox/worker.ts', `import { x } from '../src/journal/journal.ts'`, '../src/journal/journal.ts: sandbox imports core'],
  'sandbox that imports a tool with effects': [
    'sandbox/worker.ts', `import { x } from '../src/tools/edit.ts'`, '../src/tools/edit.ts: sandbox imports core'],
  'sandbox that imports zod': ['sandbox/worker.ts', `import { z } from 'zod'`, 'zod: the package zod belongs to src/tools/'],
  'read tools that import other tools': [
    'src/tools/reading/ls.ts', `import { x } from '../edit.ts'`, '../edit.ts: the read tools run in workers'],
  'read tools that import zod': ['src/tools/reading/ls.ts', `import { z } from 'zod'`, 'zod: the read tools run in workers'],
  'a guest that imports core': [
    'sandbox/isolate/guest/main.ts', `import type { X } from '../../../src/core/grant.ts'`,
    '../../../src/core/grant.ts: the guest has no modules'],
  'a guest that imports a value': [
    'sandbox/isolate/guest/main.ts', `import { x } from './globals.ts'`, './globals.ts: the guest has no modules'],
  'a guest that imports Node': ['sandbox/isolate/guest/main.ts', `import type { X } from 'node:fs'`, 'node:fs: the guest has no Node'],
  'src that imports sandbox': [
    'src/threads/pool.ts', `import '../../sandbox/worker.ts'`, '../../sandbox/worker.ts: src starts sandbox by URL'],
  'src that imports a type of sandbox': [
    'src/threads/pool.ts', `import type { X } from '../../sandbox/worker.ts'`, '../../sandbox/worker.ts: src starts sandbox by URL'],
  'worktrees that imports a room': [
    'worktrees/land.ts', `import type { X } from '../src/journal/journal.ts'`, '../src/journal/journal.ts: worktrees is a leaf'],
  'worktrees that imports a value of core': [
    'worktrees/land.ts', `import { x } from '../src/core/grant.ts'`, '../src/core/grant.ts: worktrees is a leaf'],
  'a room that imports the sandbox': ['src/host/host.ts', `import { x } from '../../sandbox/worker.ts'`, '../../sandbox/worker.ts: src starts sandbox by URL'],
  'the shell that imports more of the sandbox than its policy': [
    'src/shell/open-shell.ts', `import { x } from '../../sandbox/isolate/run.ts'`, '../../sandbox/isolate/run.ts: src starts sandbox by URL'],
  'a package away from its owner': [
    'src/threads/pool.ts', `import chokidar from 'chokidar'`, 'chokidar: the package chokidar belongs to src/definitions/watch.ts'],
  'a package away from its file': [
    'worktrees/land.ts', `import { simpleGit } from 'simple-git'`, 'simple-git: the package simple-git belongs to worktrees/git.ts'],
  'a scoped package away from its owner': [
    'src/host/host.ts', `import type { X } from '@ai-sdk/provider'`, '@ai-sdk/provider: the package @ai-sdk/provider belongs to'],
  'a required package away from its owner': ['src/host/host.ts', `const z = require('zod/v4')`, 'zod/v4: the package zod belongs to'],
  'SQLite away from its owner': [
    'src/host/host.ts', `import { DatabaseSync } from 'node:sqlite'`, 'node:sqlite: the package node:sqlite belongs to src/journal/'],
  'a package without an owner': ['src/host/host.ts', `import lodash from 'lodash/fp'`, 'lodash/fp: the package lodash has no owner'],
  'a test with a package without an owner': ['test/host.test.ts', `import lodash from 'lodash'`, 'lodash: the package lodash has no owner'],
  'a builtin without its prefix': ['src/host/host.ts', `import fs from 'fs'`, 'fs: write it as node:fs'],
  'an import that leaves the repository': [
    'src/host/host.ts', `import x from '../../../elsewhere/x.ts'`, '../../../elsewhere/x.ts: it leaves the repository'],
  'an absolute import': ['src/host/host.ts', `import x from '/etc/x.ts'`, '/etc/x.ts: it leaves the repository'],
  'an import of a built file': ['src/host/host.ts', `import x from '../core/grant.js'`, '../core/grant.js: there is no such source file'],
  'shipped code that imports a test': [
    'src/host/host.ts', `import x from '../../test/fixture.ts'`, '../../test/fixture.ts: shipped code does not import'],
  'a default export': ['src/host/host.ts', `export default 1`, 'export default: use a named export'],
  'a default export by name': ['src/host/host.ts', `const x = 1; export { x as default }`, 'export default: use a named export'],
  'a drawer': ['src/host/utils.ts', '', '(name): name a file after'],
  'a drawer of types': ['sandbox/types.ts', '', '(name): name a file after'],
  'a folder that is a drawer': ['src/host/helpers/x.ts', '', '(name): name a file after'],
  'a folder that is no room': ['src/misc/x.ts', '', '(place): it stands in no room'],
  'a file beside the rooms': ['src/budget.ts', '', '(place): it stands in no room'],
  'a file that does not parse': ['src/host/host.ts', 'import {', '(syntax): '],
}

for (const [title, [file, text, why]] of Object.entries(planted)) {
  test(`the picture refuses ${title}`, () => {
    const files = new Map([...NEIGHBOURS.map(neighbour => [neighbour, ''] as const), [file, text]])
    const found = violations(files)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(`${file} → ${why}`)
  })
}

test('the picture refuses a cycle between files of one room, also one of types only', () => {
  const files = new Map([
    ['src/core/a.ts', `import { b } from './b.ts'`],
    ['src/core/b.ts', `import type { C } from './c.ts'`],
    ['src/core/c.ts', `export type { A } from './a.ts'`],
  ])
  expect(violations(files)).toEqual([
    'src/core/c.ts → src/core/a.ts: closes the cycle src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
  ])
})

test('the picture lets through what it shows', () => {
  const clean = new Map([
    ...NEIGHBOURS.map(neighbour => [neighbour, ''] as const),
    ['src/cli/sweep.ts', `import { x } from '../index.ts'\nimport { y } from '../sweep/run.ts'\nimport { Command } from 'commander'`],
    ['src/index.ts', `export * from './orchestrator.ts'\nexport type * from './core/contract.ts'`],
    ['src/orchestrator.ts', `import { x } from './supervisor.ts'\nimport { y } from '../worktrees/open.ts'`],
    ['src/supervisor.ts', `import { x } from './delegate.ts'\nimport { y } from './journal/journal.ts'`],
    ['src/models/provider.ts', `import { x } from '@ai-sdk/openai'\nimport { y } from './model.ts'`],
    ['src/journal/database.ts', `import { DatabaseSync } from 'node:sqlite'\nimport type { X } from '../core/contract.ts'`],
    ['src/tools/read.ts', `import { z } from 'zod'\nimport { x } from './reading/grep.ts'`],
    ['src/tools/reading/glob.ts', `import picomatch from 'picomatch'\nimport { x } from '../../core/grant.ts'`],
    ['src/tools/reading/ls.ts', `import { opendirSync } from 'node:fs'\nimport { x } from './glob.ts'`],
    ['sandbox/shell/policy.ts', `import type { X } from '../../src/core/grant.ts'`],
    ['src/shell/open-shell.ts', `import { x } from '../../sandbox/shell/policy.ts'`],
    ['src/threads/pool.ts', `import { Piscina } from 'piscina'\nnew URL('../../sandbox/worker.ts', import.meta.url)`],
    ['sandbox/worker.ts', `import { y } from '../src/tools/reading/grep.ts'\nimport { wrap } from 'comlink'`],
    ['sandbox/isolate/run.ts', `import { x } from '../../src/core/grant.ts'\nimport { Isolate } from 'isolated-vm'`],
    ['sandbox/isolate/guest/prelude.ts', `import type { X } from './globals.ts'`],
    ['worktrees/land.ts', `import type { X } from '../src/core/contract.ts'\nimport { y } from './git.ts'`],
    ['test/x.test.ts', `import { test } from 'vitest'\nimport { x } from '../src/core/grant.ts'\nimport { y } from '../sandbox/worker.ts'`],
    ['vitest.config.ts', `import { defineConfig } from 'vitest/config'\nexport default defineConfig({})`],
  ])
  expect(violations(clean)).toEqual([])
})
