import type { Effect } from '../core/contract.ts'
import type { PermissionMode } from '../core/agent-type.ts'
import { allowedBy, touchedBy } from './matching.ts'
import { isInside, pathsBehind, workingRoot } from './place.ts'
import type { Place } from './place.ts'
import { isProtected } from './protected-paths.ts'
import type { Rule, Rules } from './rule.ts'
import { isSearch } from './search.ts'
import { kindOfUse, textOf } from './tool-use.ts'
import type { ToolUse } from './tool-use.ts'

/** What a call is judged by. All plain data. */
export type JudgedBy = {
  readonly mode: PermissionMode
  readonly rules: Rules
  readonly place: Place
  /** Whether the kernel keeps this agent's bash inside its grant (SHL-01). */
  readonly sandboxed: boolean
  /** The agent's own memory folder (absolute, real), or null. */
  readonly memoryFolder: string | null
  /** Whether the search tools leave out what `deny` rules for reading cover (`pathTouched`); else such a search is denied as a whole. */
  readonly searchesHide: boolean
}

/** `reason` and `why` are sentences: a reason is the call's outcome, for the model; `asks` names what is asked for, for people. */
export type Judgement =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string; readonly source: 'rule' | 'approval' }
  | { readonly kind: 'ask'; readonly asks: string; readonly why: string }

const ALLOW: Judgement = { kind: 'allow' }

/**
 * Whether a call that its grant and its input let through may run (PRM-01…06). The order is the contract: deny rules hold in every mode; plan
 * only reads; `bypassPermissions` allows the rest; ask rules beat allow rules; protected folders ask whatever the allow rules say; then the
 * mode decides. Adding a deny or ask rule never makes anything more allowed.
 */
export function judge(use: ToolUse, by: JudgedBy): Judgement {
  const denied = touchedBy(by.rules.deny, use, by.place, !by.searchesHide)
  if (denied !== null) return deny(deniedText(use, denied), 'rule')
  if (by.mode === 'plan' && changesThings(use.effect)) return deny(`${use.tool} is not available in plan mode, which only reads. Say what you would do instead.`, 'rule')
  if (by.mode === 'bypassPermissions') return ALLOW
  const why = whyAsk(use, by)
  if (why === null) return ALLOW
  if (by.mode === 'dontAsk') {
    return deny(`Declined: ${use.tool} needs an approval, and the permission mode dontAsk asks for none. Work without it or report what you need.`, 'approval')
  }
  return { kind: 'ask', asks: kindOfUse(use) === 'command' && !by.sandboxed ? 'unconfined bash' : use.tool, why }
}

/** PRM-06: the outcome of a call that would ask where nobody answers. */
export const declined = (tool: string): string => `Declined: ${tool} needs an approval nobody here can give. Work without it or report what you need.`

/** PRM-04: why no agent of this type (its canonical name) may be started, or null. Ask it before anything exists. */
export function refusedType(type: string, rules: Rules, place: Place): string | null {
  const use: ToolUse = { tool: 'agent', effect: 'delegate', input: {}, agentType: type }
  return touchedBy(rules.deny, use, place, true) === null ? null : typeText(type)
}

const typeText = (type: string): string => `Delegation to ${type} is denied by a rule.`

const deny = (reason: string, source: 'rule' | 'approval'): Judgement => ({ kind: 'deny', reason, source })

function deniedText(use: ToolUse, rule: Rule): string {
  if (use.agentType !== undefined) return typeText(use.agentType)
  const search = rule.specifier !== null && isSearch(use)
  return `${use.tool} with this input is denied by the rule ${rule.written} (${rule.origin}).${search ? ' Search a folder that the rule is not about.' : ''}`
}

const changesThings = (effect: Effect): boolean => effect === 'write' || effect === 'execute' || effect === 'network'

/** Why a call needs somebody's word, or null when it needs none. */
function whyAsk(use: ToolUse, by: JudgedBy): string | null {
  const asked = touchedBy(by.rules.ask, use, by.place, true)
  if (asked !== null) return `the rule ${asked.written} (${asked.origin}) asks`
  const paths = use.effect === 'write' && kindOfUse(use) === 'path' ? pathsBehind(textOf(use, 'path', '.'), workingRoot(by.place)) : []
  if (isProtected(paths, by.place, by.memoryFolder)) return 'writing to .git, .cadre or .claude always asks'
  if (allowedBy(by.rules.allow, use, by.place)) return null
  switch (use.effect) {
    case 'read':
    case 'delegate':
      return null
    case 'write':
      return writesFreely(use, paths, by) ? null : `writing asks in the mode ${by.mode}`
    case 'execute':
      return by.mode === 'auto' && by.sandboxed && kindOfUse(use) === 'command' ? null : `running commands asks in the mode ${by.mode}`
    case 'network':
      return `the network asks in the mode ${by.mode}`
  }
}

/** PRM-01: inside the root, by name and by what is behind it. The memory tool reaches nothing but the agent's own folder, which it was given. */
function writesFreely(use: ToolUse, paths: readonly string[], { mode, place, memoryFolder }: JudgedBy): boolean {
  if (use.tool === 'memory' && use.foreign !== true && memoryFolder !== null) return true
  if (mode !== 'acceptEdits' && mode !== 'auto') return false
  return paths.length > 0 && paths.every((path) => isInside(path, workingRoot(place)))
}
