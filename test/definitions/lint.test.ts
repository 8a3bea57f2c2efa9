import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { lint } from '../../src/definitions/lint.ts'
import { agentFile, put, tempFolder } from './temp.ts'

describe('CMD-07 lint', () => {
  test('gives a verdict for every file of a folder, documentation and unreadable ones included, in order of path', async () => {
    const folder = tempFolder()
    put(join(folder, 'b.md'), agentFile('b'))
    put(join(folder, 'README.md'), '# Read me')
    put(join(folder, 'a/c.md'), '---\nname: c\n---\n')
    put(join(folder, 'notes.txt'), agentFile('no'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link.md'))
    const verdicts = await lint([folder])
    expect(verdicts.map(({ path, kind }) => [path.slice(folder.length + 1), kind])).toEqual([
      ['link.md', 'skipped'], ['README.md', 'documentation'], ['a/c.md', 'skipped'], ['b.md', 'type'],
    ])
  })

  test('takes files as well as folders, and names a path that does not exist', async () => {
    const folder = tempFolder()
    const file = put(join(folder, 'any-name.txt'), agentFile('a'))
    expect((await lint([file]))[0]?.type?.name).toBe('a')
    await expect(lint([join(folder, 'no')])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('GRA-05 reports unknown tools, a model that is no id, and fields without effect yet, each at its line', async () => {
    const folder = tempFolder()
    const file = put(
      join(folder, 'a.md'),
      agentFile(
        'a', 'd',
        'tools: Raed, Bash(npm test), mcp__x__y, search/codebase\ndisallowedTools: WebFetsh\nmodel: Claude Sonnet 4.5\nmemory: local\n',
      ),
    )
    const [verdict] = await lint([file])
    expect(verdict?.diagnostics.map((diagnostic) => formatDiagnostic({ ...diagnostic, path: 'a.md' }))).toEqual([
      'a.md:4: warning: unknown tool "Raed", did you mean "Read"?; it is left out unless the host has a tool of that name',
      'a.md:4: warning: unknown tool "search/codebase"; it is left out unless the host has a tool of that name',
      'a.md:5: warning: unknown tool "WebFetsh", did you mean "WebFetch"?; it is left out unless the host has a tool of that name',
      'a.md:6: warning: model "Claude Sonnet 4.5" is no model id; it runs on the model of its parent; '
        + 'write an alias such as "sonnet", or a full id',
    ])
  })

  test('compiles a program without running it, and names the line of the file', async () => {
    const folder = tempFolder()
    const escape = '}); globalThis.pwned = true; (() => {'
    const file = put(
      join(folder, 'a.md'), `---\nname: a\ndescription: d\nmodel: script\n---\n\n\`\`\`js\n${escape}\nconst x = 1\nconst x = 2\n\`\`\`\n`,
    )
    const [verdict] = await lint([file])
    expect(Object.hasOwn(globalThis, 'pwned')).toBe(false)
    expect(verdict?.diagnostics.map(({ line, severity, message }) => [
      line, severity, message.includes('does not compile'),
    ])).toEqual([[10, 'error', true]])
  })

  test('--fix writes through a link, keeps the mode, leaves no other file behind, and judges the fixed file', async () => {
    const folder = tempFolder()
    const target = put(join(folder, 'real/a.md'), agentFile('a', 'when: now'))
    chmodSync(target, 0o640)
    const link = join(folder, 'link.md')
    symlinkSync(target, link)
    const [verdict] = await lint([link], { fix: true })
    expect(verdict).toMatchObject({ fixed: true, diagnostics: [], type: { description: 'when: now' } })
    expect(readFileSync(target, 'utf8')).toBe(agentFile('a', '"when: now"'))
    expect([
      statSync(target).mode & 0o777, lstatSync(link).isSymbolicLink(), readdirSync(join(folder, 'real')),
    ]).toEqual([0o640, true, ['a.md']])
  })
})
