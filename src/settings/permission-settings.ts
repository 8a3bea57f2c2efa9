import { z } from 'zod'
import type { PermissionMode } from '../core/agent-type.ts'
import type { Json } from '../core/json.ts'
import { PERMISSION_MODE_NAMES, permissionModeNamed } from '../core/permission-mode.ts'

/** Seconds; what a timer can hold. */
const LONGEST = { seconds: 2_000_000 }

/** PRM-01: any name of a mode, taken as the mode it means; what it gives passes again. */
const mode = z
  .custom<string>((name) => typeof name === 'string' && permissionModeNamed(name) !== undefined)
  .transform((name): PermissionMode => permissionModeNamed(name) ?? 'default')
  .describe(`one of ${PERMISSION_MODE_NAMES.join(', ')}`)

/**
 * Taken as written: `parseRules` says what is wrong with an entry. A schema that dropped a list with one bad entry would drop its deny rules too.
 */
const rules = () => z.custom<Json>((value) => value !== undefined).describe('a list of rules')

/** The settings of permissions and approvals (SPEC section 21), as entries of `SETTINGS`. */
export const PERMISSION_SETTINGS = {
  permissions: z.strictObject({ mode, allow: rules(), ask: rules(), deny: rules() }),
  approvals: z.enum(['bubble', 'decline']).nullable().describe('"bubble" or "decline"'),
  approvalTimeout: z.number().positive().max(LONGEST.seconds).describe(`a number of seconds above 0, at most ${LONGEST.seconds}`),
} as const

/** `approvals` null: bubble where a user sits or `onApproval` is given, else decline (PRM-06). */
export const PERMISSION_DEFAULTS = {
  permissions: { mode: 'default', allow: [], ask: [], deny: [] },
  approvals: null,
  approvalTimeout: 1_800,
} as const satisfies Readonly<Record<keyof typeof PERMISSION_SETTINGS, Json>>
