import type { Diagnostic } from '../core/diagnostic.ts'
import type { Json } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { SECRET_HEADER } from '../core/secrets.ts'
import { nameOf } from './layer.ts'
import type { Entry, Layer } from './layer.ts'
import type { Settings } from './settings.ts'

/** Numbers an untrusted project may lower. Not `models.silence`: a short one makes every call fail and be paid again. */
const LOWERABLE = /^(limits|programs)\.|^models\.maxTries$/

/** Features an untrusted project may switch off. */
const SWITCHES: readonly string[] = ['claudeAgents', 'instructions', 'tasks.notify']

/** Rules that only take away. */
const FORBIDDING: readonly string[] = ['permissions.ask', 'permissions.deny']

const USER_FILE = 'move it to the settings of your user folder, or name a variable in apiKeyEnv'

/**
 * What a project's own file may set. An untrusted root's may only lower limits, switch features off and allow less (SET-01), compared with
 * `below`, the settings that would hold without it; no project grants trust (SCO-07) or brings a key (MOD-08).
 */
export function restrictProject(entries: readonly Entry[], { layer, root, trusted, below }: {
  readonly layer: Layer
  readonly root: string
  readonly trusted: boolean
  readonly below: Settings
}): { readonly entries: readonly Entry[]; readonly diagnostics: readonly Diagnostic[] } {
  const kept: Entry[] = []
  const diagnostics: Diagnostic[] = []
  const warn = (path: readonly string[], message: string, remedy: string) =>
    diagnostics.push({ path: layer.name, line: layer.lineOf(path), severity: 'warning', message, remedy })

  for (const entry of entries) {
    const { path } = entry
    if (path[0] === 'trustedRoots') warn(path, '"trustedRoots" ignored: nothing inside a project can grant trust', 'run "cadre trust"')
    else if (!trusted && !narrows(entry, below)) warn(path, `${nameOf(path)} ignored: ${root} is not trusted`, 'run "cadre trust"')
    else if (hasPassword(entry)) warn([...path, 'baseUrl'], `${nameOf(path)} ignored: a key never comes from a project's URL`, USER_FILE)
    else kept.push(path[0] === 'providers' ? withoutKeys(entry, warn) : entry)
  }
  return { entries: kept, diagnostics }
}

function narrows({ path, value }: Entry, below: Settings): boolean {
  const name = nameOf(path)
  if (FORBIDDING.includes(name)) return true
  if (name === 'permissions.mode') return value === 'plan' || value === 'explore' || value === 'dontAsk'
  if (name === 'approvals') return value === 'decline'
  if (name === 'sandbox') return value === 'require'
  if (name === 'allowedModels') return Array.isArray(value) && value.every((model) => below.allowedModels.includes(String(model)))
  const held = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), below)
  if (SWITCHES.includes(name)) return value === false || held === true
  return LOWERABLE.test(name) && typeof value === 'number' && typeof held === 'number' && value <= held
}

function hasPassword({ path, value }: Entry): boolean {
  const written = path[0] === 'providers' && isObject(value) ? value['baseUrl'] : undefined
  const url = typeof written === 'string' ? URL.parse(written) : null
  return url !== null && (url.username !== '' || url.password !== '')
}

function withoutKeys({ path, value }: Entry, warn: (path: readonly string[], message: string, remedy: string) => void): Entry {
  if (!isObject(value) || !isObject(value['headers'])) return { path, value }
  const headers: Record<string, Json | undefined> = {}
  for (const [name, content] of Object.entries(value['headers'])) {
    if (!SECRET_HEADER.test(name)) headers[name] = content
    else warn([...path, 'headers', name], `header "${name}" of ${nameOf(path)} ignored: a key never comes from a project`, USER_FILE)
  }
  return { path, value: { ...value, headers } }
}
