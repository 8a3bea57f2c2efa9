import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { PERMISSION_MODE_NAMES, permissionModeNamed } from '../../src/core/permission-mode.ts'
import { parseRules } from '../../src/permissions/parse-rules.ts'
import { joinRules, onlyForbidding } from '../../src/permissions/rule.ts'

const parsed = (lists: Parameters<typeof parseRules>[0]) => {
  const { rules, diagnostics } = parseRules(lists, { path: 's.json', line: (list) => (list === 'deny' ? 7 : 3) })
  return { rules, lines: diagnostics.map(formatDiagnostic) }
}

describe('PRM-03: rules are read, and what cannot be read never widens', () => {
  test('a tool, with and without a specifier', () => {
    expect(parsed({ allow: ['Bash(npm run test:*)', ' Read '], deny: ['Edit(*)'] })).toEqual({
      rules: {
        allow: [{ written: 'Bash(npm run test:*)', tool: 'Bash', specifier: 'npm run test:*', origin: 's.json' }, { written: 'Read', tool: 'Read', specifier: null, origin: 's.json' }],
        ask: [],
        deny: [{ written: 'Edit(*)', tool: 'Edit', specifier: null, origin: 's.json' }],
      },
      lines: [],
    })
  })

  /** entry, what a deny rule of it covers (undefined: nothing), the line about it. */
  const FAULTS: readonly (readonly [unknown, string | undefined, string])[] = [
    ['Bash(rm *', 'Bash', 's.json:7: error: deny rule "Bash(rm *" has an open bracket; it counts for every call of Bash; write Tool or Tool(specifier)'],
    ['Bash rm *)', 'Bash rm *', 's.json:7: error: deny rule "Bash rm *)" has an open bracket; it counts for every call of Bash rm *; write Tool or Tool(specifier)'],
    ['Bash()', 'Bash', 's.json:7: error: deny rule "Bash()" has an empty specifier; it counts for every call of Bash; write Bash for every call'],
    ['WebFetch(evil.org)', 'WebFetch', 's.json:7: error: deny rule "WebFetch(evil.org)" is no domain; it counts for every call of WebFetch; write WebFetch(domain:example.com)'],
    ['Read(!x)', 'Read', 's.json:7: error: deny rule "Read(!x)" is negated; it counts for every call of Read; rules have no exceptions: name what it is about'],
    ['todo(x)', 'todo', 's.json:7: error: deny rule "todo(x)" has a specifier, and todo takes none; it counts for every call of todo; write todo'],
    ['', undefined, 's.json:7: error: deny rule "" names no tool; it counts for nothing; write Tool or Tool(specifier)'],
    ['(x)', undefined, 's.json:7: error: deny rule "(x)" names no tool; it counts for nothing; write Tool or Tool(specifier)'],
    [42, undefined, 's.json:7: error: deny rule 42 names no tool; it counts for nothing; write Tool or Tool(specifier)'],
    [null, undefined, 's.json:7: error: deny rule null names no tool; it counts for nothing; write Tool or Tool(specifier)'],
    ['Bsh', 'Bsh', 's.json:7: note: deny rule "Bsh" names no tool of Cadre; did you mean Bash?'],
  ]
  for (const [entry, covers, line] of FAULTS) {
    test(`deny ${JSON.stringify(entry)} covers ${covers ?? 'nothing'}`, () => {
      const { rules, lines } = parsed({ deny: [entry] })
      expect({ lines, rules: rules.deny.map(({ tool, specifier }) => [tool, specifier]) }).toEqual({ lines: [line], rules: covers === undefined ? [] : [[covers, null]] })
    })
  }

  test('an allow entry that cannot be read allows nothing', () => {
    const { rules, lines } = parsed({ allow: ['Bash(', 'Bash()', 'WebFetch(x)', 'Edit(!x)', '*', '', 7] })
    expect([rules.allow, lines.length]).toEqual([[], 7])
    expect(lines[4]).toBe('s.json:3: error: allow rule "*" would allow everything; it allows nothing; name the tools, or use the permission mode bypassPermissions')
  })

  test('a list that is none is one diagnostic, and what it says still forbids', () => {
    expect(parsed({ deny: 'Bash' })).toMatchObject({ rules: { deny: [{ tool: 'Bash' }] }, lines: ['s.json:7: error: deny is not a list of rules; write it as ["Tool", "Tool(specifier)"]'] })
  })

  test('reading never throws, and every forbidding text that names a tool is kept', () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('Bash(', 'Read)', '((', 'a(b)c', 'Bash(\0)'), fc.anything())), (entries) => {
      const { rules, diagnostics } = parseRules({ deny: entries, allow: entries }, { path: 'x' })
      expect(rules.deny.length).toBe(entries.filter((entry) => typeof entry === 'string' && /^[^()]*/.exec(entry)?.[0].trim()).length)
      expect(rules.deny.length + diagnostics.length).toBeGreaterThanOrEqual(entries.length)
    }))
  })

  test('layers add up; of an untrusted place only what forbids', () => {
    const one = parsed({ allow: ['Read'], deny: ['Bash'] }).rules
    const two = parsed({ ask: ['Edit'] }).rules
    expect(joinRules(one, two)).toEqual({ ...one, ask: two.ask })
    expect(onlyForbidding(one)).toEqual({ ...one, allow: [] })
  })
})

test('PRM-01: each name of a permission mode means one of six', () => {
  expect(PERMISSION_MODE_NAMES.map((name) => [name, permissionModeNamed(name)])).toEqual([
    ['default', 'default'], ['acceptEdits', 'acceptEdits'], ['auto', 'auto'], ['dontAsk', 'dontAsk'], ['plan', 'plan'], ['bypassPermissions', 'bypassPermissions'],
    ['manual', 'default'], ['build', 'default'], ['explore', 'plan'], ['danger', 'bypassPermissions'],
  ])
  expect(['constructor', 'Plan', ''].map(permissionModeNamed)).toEqual([undefined, undefined, undefined])
})
