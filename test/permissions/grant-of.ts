import type { Grant } from '../../src/core/grant.ts'
import { rootGrant } from '../../src/core/narrow.ts'

/** A grant as plain data, but for what is given. */
export const grantOf = (given: Partial<Grant> = {}): Grant => ({
  ...rootGrant({ tools: [], root: '/nowhere', mode: 'default', maxTurns: 9, timeout: 9, maxDepth: 1 }),
  ...given,
})
