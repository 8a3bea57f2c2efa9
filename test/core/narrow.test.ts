import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Effect } from '../../src/core/contract.ts'
import { isReadOnly, isWithin, mayStart } from '../../src/core/grant.ts'
import { narrow, noToolLeft, rootGrant } from '../../src/core/narrow.ts'
import type { WantedByCall, WantedByType } from '../../src/core/narrow.ts'

const TOOLS: readonly { readonly name: string; readonly effect: Effect }[] = [
  { name: 'read', effect: 'read' },
  { name: 'ls', effect: 'read' },
  { name: 'grep', effect: 'read' },
  { name: 'write', effect: 'write' },
  { name: 'edit', effect: 'write' },
  { name: 'bash', effect: 'execute' },
  { name: 'web_fetch', effect: 'network' },
  { name: 'mcp__github__search', effect: 'read' },
  { name: 'mcp__github__push', effect: 'execute' },
  { name: 'agent', effect: 'delegate' },
  { name: 'agent_stop', effect: 'delegate' },
  { name: 'agent_wait', effect: 'delegate' },
  { name: 'agent_check', effect: 'delegate' },
]

const root = rootGrant({ tools: TOOLS, root: '/w', mode: 'default', maxDepth: 2, maxTurns: 50, timeout: 3600 })

const type = (wanted: Partial<WantedByType>): WantedByType =>
  ({ name: 'child', tools: null, disallowedTools: [], mode: 'build', readOnly: false, trusted: true, program: null, ...wanted })

const toolsOf = (wanted: Partial<WantedByType>, call: WantedByCall = {}) => narrow(root, type(wanted), call).grant.tools.map(({ name }) => name)
const layerOf = (tool: string, wanted: Partial<WantedByType>, call: WantedByCall = {}) =>
  narrow(root, type(wanted), call).removed.find((removal) => removal.tool === tool)?.layer

describe('GRA-02: layers apply in order, and each removal remembers its layer', () => {
  test('a tool in both lists is out', () => {
    expect(toolsOf({ tools: ['Read', 'Grep'], disallowedTools: ['Grep'] })).toEqual(['read'])
    expect(layerOf('grep', { tools: ['Read', 'Grep'], disallowedTools: ['Grep'] })).toBe('disallowedTools of child')
  })

  test('each layer names itself', () => {
    const wanted = { tools: ['Read', 'Write', 'Grep'], mode: 'explore' } as const
    expect(toolsOf(wanted, { tools: ['read'] })).toEqual(['read'])
    expect(layerOf('bash', wanted)).toBe('tools of child')
    expect(layerOf('write', wanted)).toBe('mode explore')
    expect(layerOf('grep', wanted, { tools: ['read'] })).toBe('tools of the call')
  })
})

describe('GRA-03: lists take our names and Claude Code\'s, ignoring case', () => {
  for (const [written, tools] of [
    ['READ', ['read']],
    ['MultiEdit', ['edit']],
    ['WebFetch', ['web_fetch']],
    ['mcp__github', ['mcp__github__search', 'mcp__github__push']],
    ['mcp__github__*', ['mcp__github__search', 'mcp__github__push']],
    ['mcp__*', ['mcp__github__search', 'mcp__github__push']],
    ['mcp__git', []],
    ['Task', ['agent', 'agent_stop', 'agent_wait', 'agent_check']],
    ['*', ['read', 'ls', 'grep', 'write', 'edit', 'bash', 'web_fetch', 'mcp__github__search', 'mcp__github__push']],
  ] as const) {
    test(`${written} grants ${tools.join(', ') || 'nothing'}`, () => expect(toolsOf({ tools: [written] })).toEqual(tools))
  }
})

describe('GRA-04: specifiers', () => {
  test('in tools they limit the calls, layer upon layer', () => {
    const first = narrow(root, type({ tools: ['Bash(npm *)', 'Bash(git *)', 'Read'] })).grant
    expect(first.tools.find(({ name }) => name === 'bash')?.only).toEqual([['npm *', 'git *']])
    const second = narrow(first, type({ tools: ['Bash(npm test *)'] })).grant
    expect(second.tools.find(({ name }) => name === 'bash')?.only).toEqual([['npm *', 'git *'], ['npm test *']])
  })

  test('in disallowedTools they remove the whole tool, but for Agent(<type>)', () => {
    expect(toolsOf({ tools: ['Bash', 'Read'], disallowedTools: ['Bash(rm *)'] })).toEqual(['read'])
    const { grant } = narrow(root, type({ tools: ['Read', 'Agent'], disallowedTools: ['Agent(reviewer)'] }))
    expect(grant.tools.map(({ name }) => name)).toContain('agent')
    expect(mayStart(grant, 'Re-Viewer')).toBe(false)
    expect(mayStart(grant, 'explorer')).toBe(true)
  })

  test('Agent(a, b) limits what may be started to a and b', () => {
    const { grant } = narrow(root, type({ tools: ['Agent(explorer, reviewer)', 'Read'] }))
    expect(['explorer', 'reviewer', 'general'].map((name) => mayStart(grant, name))).toEqual([true, true, false])
  })
})

describe('GRA-05, 06, 07, 08', () => {
  test('an unknown tool name is dropped with the nearest one', () => {
    expect(narrow(root, type({ tools: ['Raed', 'Grep'] })).unknown).toEqual([{ written: 'Raed', nearest: 'Read' }])
  })

  test('a grant that holds nothing is refused in words', () => {
    const wanted = type({ name: 'writer', tools: ['Write'], mode: 'explore' })
    const reader = narrow(root, type({ tools: ['Read'] })).grant
    expect(narrow(reader, wanted).grant.tools).toEqual([])
    expect(noToolLeft(wanted, reader)).toBe('No tool is left for writer: it asks for Write; available here: read.')
  })

  test('explore leaves out write, edit, bash and MCP tools that change things; read-only is computed from that', () => {
    expect(toolsOf({ mode: 'explore' })).toEqual(['read', 'ls', 'grep', 'web_fetch', 'mcp__github__search'])
    expect(isReadOnly(narrow(root, type({ mode: 'explore' })).grant)).toBe(true)
    expect(isReadOnly(narrow(root, type({})).grant)).toBe(false)
  })

  test('readOnly of the call forces explore, or lifts it, but not over readOnly of the type or its tools', () => {
    expect(toolsOf({}, { readOnly: true })).not.toContain('write')
    expect(toolsOf({ mode: 'explore' }, { readOnly: false })).toContain('write')
    expect(toolsOf({ mode: 'explore', readOnly: true }, { readOnly: false })).not.toContain('write')
    expect(toolsOf({ mode: 'explore', tools: ['Read'] }, { readOnly: false })).toEqual(['read'])
  })
})

describe('GRA-10: delegation is handed on only where it is named', () => {
  test('neither an absent list nor * hands it on; a list or a call that names it does', () => {
    expect(toolsOf({ tools: ['*'] })).not.toContain('agent')
    expect(toolsOf({})).not.toContain('agent')
    expect(toolsOf({ tools: ['Read', 'Agent'] })).toContain('agent')
    expect(toolsOf({}, { tools: ['read', 'agent'] })).toContain('agent')
  })

  test('not at the last layer of depth', () => {
    const child = narrow(root, type({ tools: ['Agent', 'Read'] })).grant
    expect(child.tools.map(({ name }) => name)).toContain('agent')
    const { grant, removed } = narrow(child, type({ tools: ['Agent', 'Read'] }))
    expect(grant.tools.map(({ name }) => name)).toEqual(['read'])
    expect(removed).toContainEqual({ tool: 'agent', layer: 'depth limit' })
  })
})

test('SCO-06: a program of an untrusted place gets read-effect tools only', () => {
  expect(toolsOf({ program: {}, trusted: false })).toEqual(['read', 'ls', 'grep', 'mcp__github__search'])
})

test('a child is within its parent on random trees (GRA-01)', () => {
  const entry = fc.constantFrom('Read', 'read(src/**)', 'Bash', 'Bash(npm *)', 'Bash(git *)', 'Write', 'Edit', 'mcp__github', 'mcp__*', '*', 'Agent', 'Agent(explorer)',
    'Agent(a, b)', 'Task', 'nonsense', 'grep', 'WebFetch(domain:x.com)', 'TaskOutput', '')
  const wanted = fc.record({
    tools: fc.option(fc.array(entry, { maxLength: 5 }), { nil: null }),
    disallowedTools: fc.array(entry, { maxLength: 3 }),
    mode: fc.constantFrom('explore' as const, 'build' as const),
    readOnly: fc.boolean(),
    trusted: fc.boolean(),
    program: fc.constantFrom(null, {}),
    permissionMode: fc.constantFrom('default' as const, 'plan' as const, 'bypassPermissions' as const, 'acceptEdits' as const, 'dontAsk' as const, 'auto' as const),
  }).map(type)
  const call = fc.record({ readOnly: fc.boolean(), tools: fc.array(entry, { maxLength: 4 }) }, { requiredKeys: [] })
  fc.assert(fc.property(fc.array(fc.tuple(wanted, call), { minLength: 1, maxLength: 5 }), fc.constantFrom(...(['default', 'plan', 'bypassPermissions'] as const)), (layers, mode) => {
    let parent = rootGrant({ tools: TOOLS, root: '/w', mode, maxDepth: 4, maxTurns: 50, timeout: 3600 })
    for (const [wantedType, wantedCall] of layers) {
      const child = narrow(parent, wantedType, wantedCall).grant
      expect(isWithin(child, parent)).toBe(true)
      expect(child.depth).toBeLessThanOrEqual(Math.max(0, parent.depth - 1))
      const mayBecome = mode === 'bypassPermissions' ? ['bypassPermissions'] : mode === 'plan' ? ['plan'] : ['default', 'plan', 'dontAsk']
      expect(mayBecome).toContain(child.mode)
      parent = child
    }
  }), { numRuns: 500 })
})

test('isWithin tells a wider grant from a narrower one', () => {
  const child = narrow(root, type({ tools: ['Read(src/**)', 'Agent(explorer)'] })).grant
  expect(isWithin(child, root)).toBe(true)
  expect(isWithin(root, child)).toBe(false)
  expect(isWithin({ ...child, tools: [{ name: 'read', effect: 'read', only: [] }] }, child)).toBe(false)
  expect(isWithin({ ...child, types: { only: null, except: [] } }, child)).toBe(false)
  expect(isWithin({ ...child, depth: child.depth + 1 }, child)).toBe(false)
  expect(isWithin({ ...child, paths: ['/etc'] }, child)).toBe(false)
  expect(isWithin({ ...child, mode: 'bypassPermissions' }, child)).toBe(false)
})
