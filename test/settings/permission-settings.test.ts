import { expect, test } from 'vitest'
import { z } from 'zod'

import type { Json } from '../../src/core/json.ts'
import { PERMISSION_DEFAULTS, PERMISSION_SETTINGS } from '../../src/settings/permission-settings.ts'

const shape = z.strictObject(PERMISSION_SETTINGS)

test('the defaults of permissions and approvals are those of the specification, and pass their own schema unchanged', () => {
  expect(shape.parse(PERMISSION_DEFAULTS)).toEqual({
    permissions: { mode: 'default', allow: [], ask: [], deny: [] },
    approvals: null,
    approvalTimeout: 1_800,
  })
})

const read = (given: Readonly<Record<string, Json>>) => shape.safeParse({ ...PERMISSION_DEFAULTS, ...given })

test('PRM-01: a mode may be written by any of its names, and what it means passes again', () => {
  const once = read({ permissions: { ...PERMISSION_DEFAULTS.permissions, mode: 'danger' } }).data
  expect(once?.permissions.mode).toBe('bypassPermissions')
  expect(shape.parse(once)).toEqual(once)
})

test('a list of rules with a bad entry keeps the others for the reader of rules', () => {
  expect(read({ permissions: { ...PERMISSION_DEFAULTS.permissions, deny: [7, 'Bash'] } }).data?.permissions.deny).toEqual([7, 'Bash'])
})

for (const given of [
  { permissions: { ...PERMISSION_DEFAULTS.permissions, mode: 'Plan' } }, { permissions: { ...PERMISSION_DEFAULTS.permissions, mode: 'constructor' } }, { approvals: 'ask' }, { approvalTimeout: 0 },
  { permission: {} },
] as readonly Readonly<Record<string, Json>>[]) {
  test(`${JSON.stringify(given)} is refused`, () => {
    expect(read(given).success).toBe(false)
  })
}
