import type { ApprovalAnswer, ApprovalRequest } from './core/approval.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import type { Grant } from './core/grant.ts'
import { parseRules } from './permissions/parse-rules.ts'
import type { Place } from './permissions/place.ts'
import type { Rules } from './permissions/rule.ts'
import type { Settings } from './settings/settings.ts'

/** Who decides over calls that ask; resolves with undefined for no decision, which counts as a denial. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer | undefined>

/** What permissions go by, as they are now. */
export type Permissions = {
  readonly rules: Rules
  /** The root run's, which rules are written for, and where `~` is. */
  readonly root: string
  readonly home: string
  /** ms */
  readonly timeoutMs: number
  /** Null: nobody (PRM-06). */
  readonly approver: Approver | null
}

/** Where an agent works, as rules see it. */
export const placeOf = ({ root, home }: Pick<Permissions, 'root' | 'home'>, grant: Grant): Place => ({ root, worktree: grant.root === root ? null : grant.root, home })

/**
 * What permissions go by in the settings as they are now. Rules that cannot be read are told of once per version of the settings. `approver`: the
 * host's; without one calls that ask are declined (PRM-06).
 */
export function livePermissions(settings: () => Settings, { root, home, approver, onDiagnostic }: {
  readonly root: string
  readonly home: string
  readonly approver: Approver | null
  onDiagnostic(diagnostic: Diagnostic): void
}): () => Permissions {
  let from: Settings['permissions'] | null = null
  let rules: Rules = { allow: [], ask: [], deny: [] }

  function rulesOf(permissions: Settings['permissions']): Rules {
    if (permissions === from) return rules
    from = permissions
    const parsed = parseRules(permissions, { path: 'settings: permissions' })
    for (const diagnostic of parsed.diagnostics) onDiagnostic(diagnostic)
    rules = parsed.rules
    return rules
  }

  return () => {
    const { permissions, approvals, approvalTimeout } = settings()
    return { rules: rulesOf(permissions), root, home, timeoutMs: approvalTimeout * 1000, approver: approvals === 'decline' ? null : approver }
  }
}
