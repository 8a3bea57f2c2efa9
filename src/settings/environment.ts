import type { Json } from '../core/json.ts'
import { checkLayer } from './layer.ts'
import type { Checked } from './layer.ts'

/** An environment variable of SPEC section 21, and the setting it sets. */
type Variable = { readonly name: string; readonly section?: string; readonly key: string; read(text: string): Json }

const VARIABLES: readonly Variable[] = [
  { name: 'CADRE_MODEL', key: 'model', read: String },
  { name: 'CADRE_SUBAGENT_MODEL', key: 'subagentModel', read: String },
  { name: 'CADRE_MAX_DEPTH', section: 'limits', key: 'maxDepth', read: toNumber },
  { name: 'CADRE_MAX_RUNNING', section: 'limits', key: 'maxRunning', read: toNumber },
  { name: 'CADRE_CLAUDE_AGENTS', key: 'claudeAgents', read: toBoolean },
  { name: 'CADRE_TASK_NOTIFY', section: 'tasks', key: 'notify', read: toBoolean },
  { name: 'CADRE_APPROVALS', key: 'approvals', read: String },
  { name: 'CADRE_SANDBOX', key: 'sandbox', read: String },
  { name: 'CADRE_JOURNAL', section: 'journal', key: 'path', read: String },
]

/** What the environment sets. An empty variable sets nothing; a wrong one is a diagnostic under the variable's name. */
export function checkEnvironment(env: Readonly<Record<string, string | undefined>>): Checked {
  const checked = VARIABLES.map(({ name, section, key, read }) => {
    const text = env[name]?.trim() ?? ''
    if (text === '') return { entries: [], diagnostics: [] }
    const setting = { [key]: read(text) }
    return checkLayer({ name, value: section === undefined ? setting : { [section]: setting }, lineOf: () => 1 })
  })
  return {
    entries: checked.flatMap(({ entries }) => entries),
    diagnostics: checked.flatMap(({ diagnostics }) => diagnostics),
  }
}

/** A text that is no number stays one, and fails its check. */
function toNumber(text: string): Json {
  return /^-?\d+$/.test(text) ? Number(text) : text
}

function toBoolean(text: string): Json {
  const lower = text.toLowerCase()
  return ['1', 'true', 'on', 'yes'].includes(lower) || (['0', 'false', 'off', 'no'].includes(lower) ? false : text)
}
