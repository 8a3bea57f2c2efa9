import * as fc from 'fast-check'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import type { PermissionMode } from '../../src/core/agent-type.ts'
import type { Effect } from '../../src/core/contract.ts'
import { childMode, keptMode } from '../../src/core/grant.ts'
import { declined, judge, refusedType } from '../../src/permissions/judge.ts'
import type { Judgement, JudgedBy } from '../../src/permissions/judge.ts'
import { parseRules } from '../../src/permissions/parse-rules.ts'
import { NO_RULES } from '../../src/permissions/rule.ts'
import type { Rules } from '../../src/permissions/rule.ts'
import type { ToolUse } from '../../src/permissions/tool-use.ts'
import { realPlace } from './place-of.ts'

const { top, place, remove } = realPlace(
  ['root/src/a.ts', 'root/.env', 'root/secret/key', 'root/.git/config', 'root/.claude/x', 'root/.cadre/agent-memory/me/MEMORY.md', 'root/.cadre/worktrees/w/src/a.ts', 'outside/x', 'home/.ssh/id', 'root/docs/deep/x.md', 'root/(odd) [x]/a.ts'],
  [['root/src/key', '../secret/key'], ['root/src/out', 'TOP/outside'], ['root/src/dangling', 'TOP/outside/new'], ['root/src/hooks', '../.git/hooks'], ['root/alias', 'src'], ['root/.cadre/agent-memory/me/git', '../../../.git']],
)
afterAll(remove)

const rules = (lists: Parameters<typeof parseRules>[0]): Rules => parseRules(lists, { path: 'settings.json' }).rules
const by = (given: Partial<JudgedBy> = {}): JudgedBy => ({ mode: 'default', rules: NO_RULES, place, sandboxed: false, memoryFolder: null, searchesHide: false, ...given })

const READ: ToolUse = { tool: 'read', effect: 'read', input: { path: 'src/a.ts' } }
const EDIT: ToolUse = { tool: 'edit', effect: 'write', input: { path: 'src/a.ts' } }
const BASH: ToolUse = { tool: 'bash', effect: 'execute', input: { command: 'npm test' } }
const FETCH: ToolUse = { tool: 'web_fetch', effect: 'network', input: { url: 'https://example.com/x' } }
const AGENT: ToolUse = { tool: 'agent', effect: 'delegate', input: {}, agentType: 'general' }
const OUT: ToolUse = { tool: 'write', effect: 'write', input: { path: '../outside/x' } }
const GIT: ToolUse = { tool: 'write', effect: 'write', input: { path: '.git/config' } }
const USES = { READ, AGENT, EDIT, OUT, GIT, BASH, FETCH } as const

/** What each mode makes of each call when no rule is about it, with bash confined: PRM-01, 05. */
const MODES: Readonly<Record<PermissionMode, string>> = {
  default: 'allow allow ask ask ask ask ask',
  acceptEdits: 'allow allow allow ask ask ask ask',
  auto: 'allow allow allow ask ask allow ask',
  dontAsk: 'allow allow deny deny deny deny deny',
  plan: 'allow allow deny deny deny deny deny',
  bypassPermissions: 'allow allow allow allow allow allow allow',
}
const ALL_MODES = Object.keys(MODES) as readonly PermissionMode[]
const ALLOW_ALL = rules({ allow: ['Read', 'Edit', 'Write', 'Bash', 'WebFetch', 'Agent'] })

describe('PRM-01: the mode decides where no rule does', () => {
  for (const mode of ALL_MODES) {
    for (const [index, [name, use]] of Object.entries(USES).entries()) {
      const expected = MODES[mode].split(' ')[index]
      test(`${mode}: ${name} is ${expected}`, () => {
        expect(judge(use, by({ mode, sandboxed: true })).kind).toBe(expected)
      })
      test(`${mode}: ${name} is denied by a deny rule, whatever is allowed`, () => {
        const denied = { ...ALLOW_ALL, ...rules({ deny: ['Read', 'Edit', 'Bash', 'WebFetch', 'Agent'] }), allow: ALLOW_ALL.allow }
        expect(judge(use, by({ mode, rules: denied, sandboxed: true }))).toMatchObject({ kind: 'deny', source: 'rule' })
      })
      test(`${mode}: ${name} with an ask rule ${mode === 'bypassPermissions' ? 'is allowed' : 'is not'}, whatever is allowed`, () => {
        const asked = { ...rules({ ask: ['Read', 'Edit', 'Bash', 'WebFetch', 'Agent'] }), allow: ALLOW_ALL.allow }
        const changes = use.effect !== 'read' && use.effect !== 'delegate'
        const what = mode === 'bypassPermissions' ? 'allow' : mode === 'dontAsk' || (mode === 'plan' && changes) ? 'deny' : 'ask'
        expect(judge(use, by({ mode, rules: asked, sandboxed: true })).kind).toBe(what)
      })
      test(`${mode}: ${name} with an allow rule ${mode === 'plan' ? 'still only reads' : name === 'GIT' ? 'still asks' : 'is allowed'}`, () => {
        const what = use === GIT && mode !== 'bypassPermissions' ? expected : mode === 'plan' ? expected : 'allow'
        expect(judge(use, by({ mode, rules: ALLOW_ALL })).kind).toBe(what)
      })
    }
  }

  test('bash that nothing confines asks as unconfined bash, in auto too', () => {
    for (const mode of ['default', 'acceptEdits', 'auto'] as const) expect(judge(BASH, by({ mode }))).toMatchObject({ kind: 'ask', asks: 'unconfined bash' })
    expect(judge(BASH, by({ sandboxed: true }))).toMatchObject({ asks: 'bash' })
  })

  test('edits are accepted inside the root only, by name and by what is behind the name', () => {
    const accepted = (path: string, worktree: string | null = null) => judge({ ...EDIT, input: { path } }, by({ mode: 'acceptEdits', place: { ...place, worktree } })).kind
    const worktree = join(place.root, '.cadre/worktrees/w')
    expect(['src/a.ts', 'src/new/x.ts', join(place.root, 'src/a.ts'), 'src/../a', '.', 'src/key'].map((path) => accepted(path))).toEqual(Array(6).fill('allow'))
    expect(['../outside/x', 'src/out/x', 'src/out/new', 'src/dangling', 'src/out/../../../home/x', '/etc/x', 'src/hooks/pre-commit'].map((path) => accepted(path))).toEqual(Array(7).fill('ask'))
    expect([accepted('src/a.ts', worktree), accepted(join(place.root, 'src/a.ts'), worktree)]).toEqual(['allow', 'ask'])
  })

  test('a foreign tool named like one of ours is neither', () => {
    const foreign: ToolUse = { ...EDIT, foreign: true }
    expect(judge(foreign, by({ mode: 'acceptEdits', rules: ALLOW_ALL })).kind).toBe('ask')
    expect(judge({ ...BASH, foreign: true }, by({ mode: 'auto', sandboxed: true, rules: ALLOW_ALL })).kind).toBe('ask')
    expect(judge(foreign, by({ rules: rules({ deny: ['Edit', 'edit(x)'] }) })).kind).toBe('ask')
    expect(judge(foreign, by({ rules: rules({ deny: ['*'] }) })).kind).toBe('deny')
    const mcp: ToolUse = { tool: 'mcp__git__push', effect: 'execute', input: {}, foreign: true }
    for (const name of ['mcp__git', 'mcp__git__*', 'mcp__*', 'MCP__git__push']) expect(judge(mcp, by({ rules: rules({ allow: [name] }) })).kind).toBe('allow')
    for (const name of ['mcp__gi', 'mcp__git__pus', 'Bash']) expect(judge(mcp, by({ rules: rules({ allow: [name] }) })).kind).toBe('ask')
  })
})

/** list, rule, call, what comes of it (in the mode default). */
const RULES: readonly (readonly ['allow' | 'ask' | 'deny', string, ToolUse['tool'], string, Judgement['kind']])[] = [
  ['allow', 'Edit(src/**)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'Edit(/src/**)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'Edit(./src)', 'write', 'src/deep/new.ts', 'allow'],
  ['allow', 'Edit(src/)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'edit(a.ts)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'MultiEdit(**)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'Edit(*.md)', 'edit', 'docs/deep/x.md', 'allow'],
  ['allow', 'Edit(docs/*.md)', 'edit', 'docs/deep/x.md', 'ask'],
  ['allow', 'Edit((odd) [[]x]/**)', 'edit', '(odd) [x]/a.ts', 'ask'],
  ['allow', 'Edit(**)', 'edit', '(odd) [x]/a.ts', 'allow'],
  ['allow', 'Write(src/**)', 'edit', 'src/a.ts', 'ask'],
  ['allow', 'Edit(src/**)', 'edit', 'src/../secret/key', 'ask'],
  ['allow', 'Edit(src/**)', 'edit', 'src/key', 'ask'],
  ['allow', 'Edit(src/**)', 'edit', 'src/out/x', 'ask'],
  ['allow', 'Edit(src/**)', 'write', 'src/out/new', 'ask'],
  ['allow', 'Edit(src/**)', 'write', 'src/dangling', 'ask'],
  ['allow', 'Edit(alias/**)', 'edit', 'alias/a.ts', 'ask'],
  ['allow', 'Edit(**)', 'write', 'src/hooks/pre-commit', 'ask'],
  ['allow', 'Edit(**)', 'write', '.GIT/hooks/x', 'ask'],
  ['allow', 'Edit(**)', 'write', '.git', 'ask'],
  ['allow', 'Edit(**)', 'write', 'src/sub/.claude/settings.json', 'ask'],
  ['allow', 'Edit(**)', 'edit', '../outside/x', 'ask'],
  ['allow', `Edit(/${top}/outside/**)`, 'edit', '../outside/x', 'allow'],
  ['allow', 'Edit(~/notes/**)', 'edit', '../home/notes/x', 'allow'],
  ['allow', 'Edit(src/**', 'edit', 'src/a.ts', 'ask'],
  ['allow', 'Edit()', 'edit', 'src/a.ts', 'ask'],
  ['allow', 'Edit(!x)', 'edit', 'src/a.ts', 'ask'],
  ['allow', '*', 'edit', 'src/a.ts', 'ask'],
  ['allow', 'Edit(*)', 'edit', 'src/a.ts', 'allow'],
  ['allow', 'Bash(npm test *)', 'bash', 'npm test x', 'allow'],
  ['allow', 'Bash(npm test *)', 'bash', 'npm test; rm x', 'ask'],
  ['allow', 'WebFetch(domain:example.com)', 'web_fetch', 'https://EXAMPLE.com.:8443/x', 'allow'],
  ['allow', 'WebFetch(domain:example.com)', 'web_fetch', 'https://example.com@evil.org/', 'ask'],
  ['allow', 'WebFetch(domain:example.com)', 'web_fetch', 'https://www.example.com/', 'ask'],
  ['allow', 'WebFetch(domain:*.example.com)', 'web_fetch', 'https://www.example.com/', 'allow'],
  ['allow', 'WebFetch(domain:*.example.com)', 'web_fetch', 'https://badexample.com/', 'ask'],
  ['allow', 'WebFetch(example.com)', 'web_fetch', 'https://example.com/', 'ask'],
  ['allow', 'WebFetch(domain:example.com)', 'web_fetch', 'no url', 'ask'],

  ['deny', 'Read(./.env)', 'read', '.env', 'deny'],
  ['deny', 'Read(.env)', 'read', 'src/../.env', 'deny'],
  ['deny', 'Read(.env)', 'read', 'deep/down/.ENV', 'deny'],
  ['deny', 'Read(secret)', 'read', 'src/key', 'deny'],
  ['deny', 'Read(src/key)', 'read', 'src/key', 'deny'],
  ['deny', 'Read(secret/**)', 'read', 'src/a.ts', 'allow'],
  ['deny', 'Read(~/.ssh/**)', 'read', '../home/.ssh/id', 'deny'],
  ['deny', 'Read(../outside/**)', 'read', 'src/out/x', 'deny'],
  ['deny', 'Read(./../outside)', 'read', 'src/out/x', 'deny'],
  ['deny', `Read(/${top}/outside/*)`, 'read', '../outside/x', 'deny'],
  ['deny', 'Read(secret/**)', 'grep', '.', 'deny'],
  ['deny', 'Read(.env)', 'grep', 'src', 'deny'],
  ['deny', 'Read(./.env)', 'grep', 'src', 'allow'],
  ['deny', 'Read(secret/**)', 'ls', 'docs', 'allow'],
  ['deny', 'Write(.env)', 'edit', '.env', 'deny'],
  ['deny', 'Edit(.env)', 'write', '.env', 'deny'],
  ['deny', 'Edit(secret', 'edit', 'src/a.ts', 'deny'],
  ['deny', 'Edit(!src/**)', 'edit', 'src/a.ts', 'deny'],
  ['deny', 'WebFetch(evil.org)', 'web_fetch', 'https://example.com/', 'deny'],
  ['deny', 'WebFetch(domain:evil.org)', 'web_fetch', 'https://a.evil.org/', 'deny'],
  ['deny', 'WebFetch(domain:evil.org)', 'web_fetch', 'no url', 'deny'],
  ['deny', 'WebFetch(domain:evil.org)', 'web_fetch', 'https://notevil.org/', 'ask'],
  ['deny', 'Bash(rm *)', 'bash', 'ls && sudo rm x', 'deny'],
  ['deny', 'Bash(rm:*', 'bash', 'ls', 'deny'],
  ['deny', 'Bash()', 'bash', 'ls', 'deny'],
  ['deny', 'Bash(rm *)', 'bash', 'ls', 'ask'],
  ['deny', '*', 'read', 'src/a.ts', 'deny'],
  ['ask', 'Read(secret/**)', 'read', 'src/key', 'ask'],
  ['ask', 'Read(secret/**)', 'read', 'src/a.ts', 'allow'],
]
const EFFECTS: Readonly<Record<string, readonly [Effect, string]>> = {
  edit: ['write', 'path'], write: ['write', 'path'], read: ['read', 'path'], grep: ['read', 'path'], ls: ['read', 'path'], bash: ['execute', 'command'], web_fetch: ['network', 'url'],
}
const useOf = (tool: string, subject: string): ToolUse => {
  const [effect, field] = EFFECTS[tool] ?? ['execute', 'x']
  return { tool, effect, input: { [field]: subject } }
}

describe('PRM-03, 05: rules with specifiers', () => {
  for (const [list, rule, tool, subject, expected] of RULES) {
    test(`${list} ${rule} of ${tool} ${subject}: ${expected}`.replaceAll(top, '<top>'), () => {
      expect(judge(useOf(tool, subject), by({ rules: rules({ [list]: [rule] }) })).kind).toBe(expected)
    })
  }

  test('in a worktree, rules written for the root mean the same files', () => {
    const worktree = join(place.root, '.cadre/worktrees/w')
    const there = (lists: Parameters<typeof parseRules>[0], path: string, tool = 'edit') => judge(useOf(tool, path), by({ rules: rules(lists), place: { ...place, worktree } })).kind
    expect(there({ allow: ['Edit(src/**)'] }, 'src/a.ts')).toBe('allow')
    expect(there({ allow: ['Edit(/src/**)'] }, join(worktree, 'src/a.ts'))).toBe('allow')
    expect(there({ allow: ['Edit(.cadre/**)'] }, 'src/a.ts')).toBe('ask')
    expect(there({ allow: ['Edit(**)'] }, '.git')).toBe('ask')
    expect(there({ allow: ['Edit(**)'] }, '../other/src/a.ts')).toBe('ask')
    expect(there({ deny: ['Read(./src/a.ts)'] }, 'src/a.ts', 'read')).toBe('deny')
    expect(there({ deny: [`Read(/${place.root}/src/a.ts)`] }, 'src/a.ts', 'read')).toBe('deny')
    expect(there({ deny: [`Read(/${worktree}/**)`] }, 'src/a.ts', 'read')).toBe('deny')
  })

  test('a search is let through where its tool leaves out what is denied, but never into a denied folder', () => {
    const searched = (path: string) => judge(useOf('grep', path), by({ rules: rules({ deny: ['Read(secret/**)'] }), searchesHide: true })).kind
    expect([searched('.'), searched('secret'), searched('secret/deep')]).toEqual(['allow', 'deny', 'deny'])
  })

  test('the agent’s own memory folder is excepted from the protected ones, what links in it lead to is not', () => {
    const memoryFolder = join(place.root, '.cadre/agent-memory/me')
    const writes = (path: string, memory: string | null) => judge(useOf('write', path), by({ mode: 'acceptEdits', memoryFolder: memory })).kind
    expect([writes('.cadre/agent-memory/me/MEMORY.md', memoryFolder), writes('.cadre/agent-memory/me/new/x', memoryFolder)]).toEqual(['allow', 'allow'])
    expect([writes('.cadre/agent-memory/me/git/config', memoryFolder), writes('.cadre/agent-memory/you/x', memoryFolder), writes('.cadre/agent-memory/me/MEMORY.md', null)]).toEqual(['ask', 'ask', 'ask'])
    const memory: ToolUse = { tool: 'memory', effect: 'write', input: { action: 'append', content: 'x' } }
    expect([judge(memory, by({ memoryFolder })).kind, judge(memory, by({ memoryFolder, mode: 'plan' })).kind, judge(memory, by()).kind]).toEqual(['allow', 'deny', 'ask'])
  })
})

describe('what a refusal says', () => {
  test('a deny rule is named with its file', () => {
    expect(judge(BASH, by({ rules: rules({ deny: ['Bash(npm *)'] }) }))).toEqual({ kind: 'deny', source: 'rule', reason: 'bash with this input is denied by the rule Bash(npm *) (settings.json).' })
  })

  test('PRM-04: a type is refused by its canonical name, however it is spelled in the rule', () => {
    const denied = rules({ deny: ['Task(code_reviewer, planner)'] })
    expect(refusedType('code-reviewer', denied, place)).toBe('Delegation to code-reviewer is denied by a rule.')
    expect(judge({ ...AGENT, agentType: 'planner' }, by({ rules: denied, mode: 'bypassPermissions' }))).toEqual({ kind: 'deny', source: 'rule', reason: 'Delegation to planner is denied by a rule.' })
    expect([refusedType('general', denied, place), judge(AGENT, by({ rules: denied })).kind]).toEqual([null, 'allow'])
    expect(refusedType('general', rules({ deny: ['Agent'] }), place)).toBe('Delegation to general is denied by a rule.')
    expect(judge(AGENT, by({ rules: rules({ ask: ['Agent(general)'] }) })).kind).toBe('ask')
  })

  test('PRM-06: the words for an approval nobody can give', () => {
    expect(declined('bash')).toBe('Declined: bash needs an approval nobody here can give. Work without it or report what you need.')
  })

  test('an ask says which rule or mode asks', () => {
    expect(judge(BASH, by({ rules: rules({ ask: ['Bash(npm *)'] }), sandboxed: true }))).toEqual({ kind: 'ask', asks: 'bash', why: 'the rule Bash(npm *) (settings.json) asks' })
    expect(judge(FETCH, by({ mode: 'dontAsk' }))).toMatchObject({ source: 'approval', reason: expect.stringContaining('dontAsk') as string })
  })
})

const RANK: Readonly<Record<Judgement['kind'], number>> = { deny: 0, ask: 1, allow: 2 }
const anyUse = fc.constantFrom(...Object.values(USES), useOf('bash', 'npm test && rm x'), useOf('read', '.env'), useOf('grep', '.'), useOf('edit', 'src/key'), useOf('write', '.claude/x'), { ...EDIT, foreign: true })
const anyRule = fc.constantFrom(
  'Read', 'Read(.env)', 'Read(secret/**)', 'Edit', 'Edit(src/**)', 'Edit(**)', 'Write(.claude/**)', 'Bash', 'Bash(npm *)', 'Bash(rm *)', 'Bash(', 'WebFetch(domain:example.com)', 'WebFetch(x)', 'Agent(general)', '*', 'mcp__*', 'Nope(x)', '',
)
const anyRules = fc.record({ allow: fc.array(anyRule, { maxLength: 3 }), ask: fc.array(anyRule, { maxLength: 2 }), deny: fc.array(anyRule, { maxLength: 2 }) })
const anyMode = fc.constantFrom(...ALL_MODES)

test('PRM-03: adding a deny or ask rule never makes anything more allowed', () => {
  fc.assert(fc.property(anyUse, anyRules, anyRule, fc.constantFrom('ask', 'deny'), anyMode, fc.boolean(), (use, lists, more, list, mode, sandboxed) => {
    const before = judge(use, by({ rules: rules(lists), mode, sandboxed }))
    const after = judge(use, by({ rules: rules({ ...lists, [list]: [...lists[list], more] }), mode, sandboxed }))
    expect(RANK[after.kind]).toBeLessThanOrEqual(RANK[before.kind])
  }), { numRuns: 1_000 })
})

test('PRM-02: nothing is allowed to a child that was not allowed to its parent, newly started or continued', () => {
  fc.assert(fc.property(anyUse, anyRules, anyMode, fc.option(anyMode, { nil: undefined }), fc.boolean(), (use, lists, parent, wanted, sandboxed) => {
    const modes = [childMode(parent, wanted), keptMode(parent, wanted ?? parent)]
    const above = judge(use, by({ rules: rules(lists), mode: parent, sandboxed }))
    for (const mode of modes) if (judge(use, by({ rules: rules(lists), mode, sandboxed })).kind === 'allow') expect(above.kind).toBe('allow')
  }), { numRuns: 1_000 })
})
