import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { HOOK_EVENTS } from '../../src/hooks/hook.ts'
import { matchesSubject } from '../../src/hooks/matcher.ts'
import type { HookSubject } from '../../src/hooks/matcher.ts'
import { parseHooks } from '../../src/hooks/parse-hooks.ts'
import type { HookOrigin } from '../../src/hooks/parse-hooks.ts'

const parsed = (value: Json, origin: Partial<HookOrigin> = {}) => {
  const { hooks, diagnostics } = parseHooks(value, { path: 's.json', line: (event) => event.length, ...origin })
  return { hooks, lines: diagnostics.map(formatDiagnostic) }
}
const command = (text: string) => ({ type: 'command', command: text })

describe('PRM-11: hooks are read in Claude Code’s shape', () => {
  test('commands and URLs, with a timeout of their own, the setting’s, or 60 s', () => {
    const value = {
      timeout: 5,
      PreToolUse: [{ matcher: 'Bash', hooks: [command('a'), { ...command('b'), timeout: 1.5 }, { type: 'http', url: 'http://localhost/x', headers: { a: 'b', c: 1 } }] }],
    }
    const at = { event: 'PreToolUse', matcher: 'Bash', origin: { path: 's.json', line: 10 }, managed: false }
    expect(parsed(value)).toEqual({
      hooks: [
        { ...at, action: { kind: 'command', command: 'a' }, timeout: 5 },
        { ...at, action: { kind: 'command', command: 'b' }, timeout: 1.5 },
        { ...at, action: { kind: 'http', url: 'http://localhost/x', headers: { a: 'b' } }, timeout: 5 },
      ],
      lines: [],
    })
    expect(parsed({ Stop: [{ hooks: [command('a')] }] }, { managed: true }).hooks).toMatchObject([{ matcher: null, timeout: 60, managed: true }])
  })

  test('every event of the specification is known', () => {
    expect(parsed(Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [command('a')] }]])))).toMatchObject({ lines: [], hooks: HOOK_EVENTS.map((event) => ({ event })) })
  })

  test('PRM-14: in frontmatter Stop means SubagentStop', () => {
    expect(parsed({ Stop: [{ hooks: [command('a')] }] }, { frontmatter: true }).hooks).toMatchObject([{ event: 'SubagentStop' }])
  })

  const GOOD = { hooks: [command('good')] }
  const FAULTS: readonly (readonly [JsonObject | string, string])[] = [
    [{ PreCompact: [GOOD] }, 's.json:10: note: no hook runs on the event "PreCompact"; events are SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PostToolUse, Notification, Stop, SubagentStart, SubagentStop'],
    [{ PreTooluse: [GOOD] }, 's.json:10: note: no hook runs on the event "PreTooluse"; did you mean PreToolUse?'],
    [{ Stop: GOOD }, 's.json:4: warning: hooks of Stop must be a list; ignored'],
    [{ Stop: ['x'] }, 's.json:4: warning: an entry of Stop has no list "hooks"; write {matcher, hooks: [{type, command}]}'],
    [{ Stop: [{ hooks: [{ type: 'command' }] }] }, 's.json:4: warning: a hook of Stop has no command; ignored'],
    [{ Stop: [{ hooks: [{ type: 'http', url: 'file:///etc/passwd' }] }] }, 's.json:4: warning: a hook of Stop has no http or https URL; ignored'],
    [{ Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }, 's.json:4: note: a hook of Stop has the type "prompt", which does not run here; types are command and http'],
    [{ Stop: [{ hooks: [null] }] }, 's.json:4: note: a hook of Stop has the type undefined, which does not run here; types are command and http'],
    [{ PreToolUse: [{ matcher: 7, hooks: [command('x')] }] }, 's.json:10: error: the matcher 7 of PreToolUse cannot be read (it is no text); its hooks do not run'],
    ['x', 's.json:5: warning: hooks must be a map of events; ignored'],
    [{ timeout: -1 }, 's.json:7: warning: field "timeout" must be a number of seconds above 0, at most 2000000; ignored'],
  ]
  for (const [value, line] of FAULTS) {
    test(`${JSON.stringify(value)} is one diagnostic, and the hooks beside it count`, () => {
      const beside = typeof value === 'string' ? value : { ...value, SessionEnd: [GOOD] }
      const { hooks, lines } = parsed(beside)
      expect([lines, hooks.length]).toEqual([[line], beside === value ? 0 : 1])
    })
  }

  test('a matcher that is no regular expression is an error', () => {
    expect(parsed({ PreToolUse: [{ matcher: '(', hooks: [command('x')] }] })).toMatchObject({ hooks: [], lines: [expect.stringMatching(/^s\.json:10: error: the matcher "\(" of PreToolUse cannot be read \(.*\); its hooks do not run$/)] })
  })

  test('reading never throws', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(...HOOK_EVENTS), (value, event) => {
      for (const shape of [value, { [event]: value }, { [event]: [value] }, { [event]: [{ hooks: value }] }, { [event]: [{ hooks: [value] }] }]) parseHooks(shape, { path: 'x' })
    }))
  })
})

describe('PRM-11, GRA-03: matchers', () => {
  const edit: HookSubject = { tool: 'edit' }
  const mcp: HookSubject = { tool: 'mcp__git__push', foreign: true }
  const TABLE: readonly (readonly [matcher: string | null, subject: HookSubject | null, matches: boolean])[] = [
    [null, edit, true], ['', edit, true], ['*', edit, true], ['Edit', null, true],
    ['Edit', edit, true], ['edit', edit, true], ['MultiEdit', edit, true], ['Write|Edit', edit, true], ['Bash | Edit', edit, true],
    ['Write', edit, false], ['Edi', edit, false], ['Edit2', edit, false], ['^Edi', edit, true], ['.*dit$', edit, true], ['^(Write|Read)$', edit, false], ['^MultiEdit$', edit, true],
    ['Task', { tool: 'agent' }, true], ['TaskOutput', { tool: 'agent_check' }, true], ['^web', { tool: 'web_fetch' }, true],
    ['Edit', { tool: 'edit', foreign: true }, false], ['^edit$', { tool: 'edit', foreign: true }, false], ['*', { tool: 'edit', foreign: true }, true],
    ['mcp__git', mcp, true], ['mcp__.*__push', mcp, true], ['mcp__git__push', mcp, true], ['mcp__gi', mcp, false], ['Bash', mcp, false], ['deploy', { tool: 'deploy', foreign: true }, true],
    ['code-reviewer', { word: 'code-reviewer' }, true], ['Code_Reviewer|x', { word: 'code-reviewer' }, true], ['reviewer', { word: 'code-reviewer' }, false], ['^code', { word: 'code-reviewer' }, true], ['startup', { word: 'resume' }, false],
  ]
  for (const [matcher, subject, matches] of TABLE) {
    test(`${JSON.stringify(matcher)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(subject)}`, () => {
      expect(matchesSubject(matcher, subject)).toBe(matches)
    })
  }
})
