import { join } from 'node:path'
import { expect, test } from 'vitest'
import { narrow, rootGrant } from '../../src/core/narrow.ts'
import { lint } from '../../src/definitions/lint.ts'
import { load, place } from './temp.ts'

const folder = join(import.meta.dirname, '..', '..', 'agents')

/** A child's whole first request, tool schemas included, is to stay below 3,000 bytes. */
const MAX_ROLE_BYTES = 700

const TOOLS = [
  ...['read', 'ls', 'glob', 'grep'].map((name) => ({ name, effect: 'read' as const })),
  { name: 'write', effect: 'write' as const }, { name: 'edit', effect: 'write' as const },
  { name: 'bash', effect: 'execute' as const }, { name: 'agent', effect: 'delegate' as const },
]

test('TYP-17 the built-in types load without a finding', async () => {
  const verdicts = await lint([folder], { place: () => ({ scope: 'built-in', trusted: true, root: folder }) })
  expect(verdicts.filter(({ kind, diagnostics }) => kind !== 'type' || diagnostics.length > 0)).toEqual([])
})

test('TYP-17 explorer, reviewer, planner and verifier can only read; general can do what it is let do', async () => {
  const { types } = await load({ ...place(), builtIn: folder })
  const root = rootGrant({ tools: TOOLS, root: '/', mode: 'default', maxDepth: 2, maxTurns: 50, timeout: 60 })
  for (const name of ['explorer', 'reviewer', 'planner', 'verifier']) {
    const type = types.find(name)
    expect(type && narrow(root, type, { readOnly: false }).grant.tools.map((tool) => tool.name)).toEqual(['read', 'ls', 'glob', 'grep'])
  }
  const general = types.require('general')
  const toolsOf = (call: { readonly readOnly?: boolean }) => narrow(root, general, call).grant.tools.map((tool) => tool.name)
  expect([toolsOf({}), toolsOf({ readOnly: false })]).toEqual([['read', 'ls', 'glob', 'grep'], ['read', 'ls', 'glob', 'grep', 'write', 'edit', 'bash']])
  expect(types.list().types.filter(({ startable }) => !startable).map(({ type }) => type.name)).toEqual(['verifier'])
  expect(types.find('verifier')?.maxTurns).toBe(15)
})

test('the role of a built-in language-model type is at most 700 bytes: every delegation pays for it', async () => {
  const { types } = await load({ ...place(), builtIn: folder })
  const roles = types.list().types.filter(({ type }) => type.program === null).map(({ type }) => ({
    name: type.name, bytes: Buffer.byteLength(type.prompt),
  }))
  expect(roles.length).toBeGreaterThanOrEqual(5)
  expect(roles.filter(({ bytes }) => bytes > MAX_ROLE_BYTES)).toEqual([])
})
