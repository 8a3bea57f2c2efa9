import type { Approver, Permissions } from './approval.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import type { Settings } from './settings/settings.ts'
import { parseRules } from './permissions/parse-rules.ts'
import type { Rules } from './permissions/rule.ts'

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
