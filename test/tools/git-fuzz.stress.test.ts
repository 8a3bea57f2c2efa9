import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { readFunctions } from '../../src/tools/reading/index.ts'
import { dataOf } from './place.ts'

const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' } })

const name = fc.constantFrom('a', 'b', 'ab', 'a.b', 'foo', 'foo.o', 'bar', '.x', 'é', 'a b', 'ends ', '[a]', '!n', '#h', 'b*', 'x?', 'back\\s', '0', 'Z')
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const piece = fc.constantFrom(
  'a', 'b', 'ab', 'foo', 'bar', '*', '**', '?', '*.o', 'a*', '*b', '[ab]', '[!a]', '[^a-c]', '[]a]', '[a-', '\\[a]', '\\!n', '\\#h', '#h', '.x', 'é', '?', '??', 'a b', 'ends\\ ', 'ends ', 'b\\*',
  '[[:alpha:]]', '[[:digit:]]*', '[[:bad:]]', '***', 'a**b', '[b-a]', '[a\\]]', 'back\\\\s', 'x[?]', 'trail\\', '[!]a]', '[--0]', 'Z', 'z', '.*', '!*',
)
const rule = fc.record({
  negated: fc.boolean(), anchored: fc.boolean(), folder: fc.boolean(), odd: fc.constantFrom('', '', '', '', ' ', '  ', '\r', '\t'), parts: fc.array(piece, { minLength: 1, maxLength: 3 }),
}).map(({ negated, anchored, folder, odd, parts }) => `${negated ? '!' : ''}${anchored ? '/' : ''}${parts.join('/')}${folder ? '/' : ''}${odd}`)
const rules = fc.array(rule, { maxLength: 6 }).map((lines) => lines.join('\n'))

/** One folder of the tree: files, and .gitignore files in it and below. */
const corner = fc.record({
  paths: fc.array(path, { minLength: 3, maxLength: 12 }),
  ignoreFiles: fc.array(fc.tuple(fc.constantFrom('', '', 'a/', 'b/', 'foo/', 'a/b/'), rules), { minLength: 1, maxLength: 3 }),
  forced: fc.array(fc.nat(11), { maxLength: 2 }),
})

describe('TOO-04: what git ignores', () => {
  test('random trees with random .gitignore files list exactly as git lists them', async () => {
    await fc.assert(fc.asyncProperty(fc.array(corner, { minLength: 30, maxLength: 30 }), rules, async (corners, exclude) => {
      const root = mkdtempSync(join(tmpdir(), 'cadre-ignore-'))
      try {
        git(root, 'init', '-q')
        const put = (file: string, text: string): boolean => {
          try {
            mkdirSync(dirname(join(root, file)), { recursive: true })
            writeFileSync(join(root, file), text)
            return true
          } catch {
            return false // the name is a folder already, or a part of the path is a file: the tree goes without it
          }
        }
        const forced: string[] = []
        for (const [at, each] of corners.entries()) {
          const put_ = each.paths.filter((file) => put(`case-${at}/${file}`, 'x'))
          for (const [folder, text] of each.ignoreFiles) put(`case-${at}/${folder}.gitignore`, text)
          forced.push(...each.forced.flatMap((index) => (put_[index] === undefined ? [] : `case-${at}/${put_[index]}`)))
        }
        writeFileSync(join(root, '.git/info/exclude'), exclude)
        if (forced.length > 0) git(root, '--literal-pathspecs', 'add', '-f', '--', ...forced)
        const wanted = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0').filter(Boolean)
        const { paths: got } = await dataOf(readFunctions.glob, { pattern: '**/*', limit: 10_000 }, root)
        expect(got).toEqual([...new Set(wanted)].toSorted())
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    }), { numRuns: Number(process.env['FUZZ_RUNS'] ?? 8), endOnFailure: true })
  }, 60_000)
})
