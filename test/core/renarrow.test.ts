import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PermissionMode } from '../../src/core/agent-type.ts'
import type { Effect } from '../../src/core/contract.ts'
import type { Grant } from '../../src/core/grant.ts'
import { isWithin } from '../../src/core/grant.ts'
import { narrow, renarrow, rootGrant } from '../../src/core/narrow.ts'

const TOOLS: readonly { readonly name: string; readonly effect: Effect }[] = [
  { name: 'read', effect: 'read' }, { name: 'grep', effect: 'read' }, { name: 'edit', effect: 'write' }, { name: 'bash', effect: 'execute' }, { name: 'web_fetch', effect: 'network' },
  { name: 'agent', effect: 'delegate' }, { name: 'agent_wait', effect: 'delegate' },
]
const MODES: readonly PermissionMode[] = ['default', 'plan', 'bypassPermissions', 'acceptEdits', 'dontAsk', 'auto']

const entry = fc.constantFrom('Read', 'read(src/**)', 'Bash', 'Bash(npm *)', 'Bash(git *)', 'Edit', '*', 'Agent', 'Agent(explorer)', 'Agent(a, b)', 'Task', 'WebFetch(domain:x.com)', '')
const wanted = fc.record({
  name: fc.constant('child'), tools: fc.option(fc.array(entry, { maxLength: 5 }), { nil: null }), disallowedTools: fc.array(entry, { maxLength: 3 }), mode: fc.constantFrom('explore' as const, 'build' as const),
  readOnly: fc.boolean(), trusted: fc.constant(true), program: fc.constant(null), permissionMode: fc.constantFrom(...MODES), maxTurns: fc.integer({ min: 1, max: 99 }), timeout: fc.integer({ min: 1, max: 9_999 }),
})
const call = fc.record({ tools: fc.array(entry, { maxLength: 4 }), maxTurns: fc.integer({ min: 1, max: 99 }), timeout: fc.integer({ min: 1, max: 9_999 }) }, { requiredKeys: [] })

/** What is left after these layers of delegation, of a root run of some session. */
const grant: fc.Arbitrary<Grant> = fc.tuple(fc.array(wanted, { maxLength: 4 }), fc.constantFrom(...MODES), fc.integer({ min: 1, max: 4 })).map(([layers, mode, maxDepth]) =>
  layers.reduce((above, type) => narrow(above, type).grant, rootGrant({ tools: TOOLS, root: '/w', mode, maxDepth, maxTurns: 50, timeout: 3600 })))

describe('STR-09: a continued agent holds what it held, as far as whoever continues it may still give it', () => {
  test('it is never wider than either, whatever the call asks for', () => {
    fc.assert(fc.property(grant, grant, call, (held, parent, asked) => {
      const kept = renarrow(held, parent, asked)
      expect([isWithin(kept, held), isWithin(kept, parent)]).toEqual([true, true])
      expect(kept.depth).toBeLessThanOrEqual(Math.max(0, parent.depth - 1))
      expect(kept.depth === 0 && kept.tools.some(({ effect }) => effect === 'delegate')).toBe(false)
      expect([kept.limits.maxTurns <= held.limits.maxTurns, kept.limits.timeout <= held.limits.timeout]).toEqual([true, true])
    }), { numRuns: 1_000 })
  })

  test('by the agent that started it, with nothing asked, it holds just what it held', () => {
    fc.assert(fc.property(grant, wanted, (parent, type) => {
      const held = narrow(parent, type).grant
      const kept = renarrow(held, parent)
      expect({ ...kept, tools: kept.tools.map(({ name }) => name), types: null }).toEqual({ ...held, tools: held.tools.map(({ name }) => name), types: null })
      expect(isWithin(held, kept)).toBe(true)
    }), { numRuns: 500 })
  })
})
