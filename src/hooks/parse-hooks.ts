import type { Diagnostic, Severity } from '../core/diagnostic.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { nearest } from '../core/nearest.ts'
import { HOOK_EVENTS, isHookEvent } from './hook.ts'
import type { Hook, HookAction, HookEvent } from './hook.ts'
import { matcherFault } from './matcher.ts'

/** PRM-11, in seconds; the longest is what a timer can hold. The setting `hooks.timeout` changes the first. */
export const HOOK_TIMEOUT = { usual: 60, longest: 2_000_000 }

/** Where hooks were written. `line`: of an event's key, 1-based. In `frontmatter` `Stop` means `SubagentStop` (PRM-14). */
export type HookOrigin = { readonly path: string; line?(event: string): number; readonly managed?: boolean; readonly frontmatter?: boolean }

export type ParsedHooks = { readonly hooks: readonly Hook[]; readonly diagnostics: readonly Diagnostic[] }

type Report = (severity: Severity, message: string, remedy: string) => void

/**
 * Reads hooks in Claude Code's shape, `{<event>: [{matcher, hooks: [{type, command or url, timeout}]}]}`, beside `timeout` (seconds) for those
 * that give none (PRM-11). Never throws: each thing that cannot be read is one diagnostic, and the other hooks count.
 */
export function parseHooks(value: Json, origin: HookOrigin): ParsedHooks {
  const diagnostics: Diagnostic[] = []
  const reporter = (event: string): Report => (severity, message, remedy) =>
    void diagnostics.push({ path: origin.path, line: origin.line?.(event) ?? 1, severity, message, remedy })
  if (!isObject(value)) {
    reporter('hooks')('warning', 'hooks must be a map of events', 'ignored')
    return { hooks: [], diagnostics }
  }
  const usual = timeoutOf(value, HOOK_TIMEOUT.usual, reporter('timeout'))
  const hooks = Object.entries(value).flatMap(([name, groups]) => (name === 'timeout' || groups === undefined ? [] : readEvent(name, groups, usual, origin, reporter(name))))
  return { hooks, diagnostics }
}

function readEvent(name: string, groups: Json, usual: number, origin: HookOrigin, report: Report): readonly Hook[] {
  if (!isHookEvent(name)) {
    const near = nearest(name, HOOK_EVENTS)
    report('note', `no hook runs on the event "${name}"`, near === undefined ? `events are ${HOOK_EVENTS.join(', ')}` : `did you mean ${near}?`)
    return []
  }
  const event: HookEvent = origin.frontmatter === true && name === 'Stop' ? 'SubagentStop' : name
  if (!Array.isArray(groups)) {
    report('warning', `hooks of ${name} must be a list`, 'ignored')
    return []
  }
  return (groups as readonly Json[]).flatMap((group) => {
    const matcher = isObject(group) ? group['matcher'] : undefined
    const entries = isObject(group) ? group['hooks'] : undefined
    const fault = matcher === undefined || matcher === null ? null : typeof matcher === 'string' ? matcherFault(matcher) : 'it is no text'
    if (!Array.isArray(entries)) report('warning', `an entry of ${name} has no list "hooks"`, 'write {matcher, hooks: [{type, command}]}')
    else if (fault !== null) report('error', `the matcher ${JSON.stringify(matcher)} of ${name} cannot be read (${fault})`, 'its hooks do not run')
    else {
      return (entries as readonly Json[]).flatMap((entry): readonly Hook[] => {
        const action = readAction(name, entry, report)
        if (action === null || !isObject(entry)) return []
        return [{
          event,
          matcher: typeof matcher === 'string' ? matcher : null,
          action,
          timeout: timeoutOf(entry, usual, report),
          origin: { path: origin.path, line: origin.line?.(name) ?? 1 },
          managed: origin.managed ?? false,
        }]
      })
    }
    return []
  })
}

function readAction(event: string, entry: Json, report: Report): HookAction | null {
  const { type, command, url, headers } = isObject(entry) ? entry : {}
  if (type === 'command' && typeof command === 'string' && command.trim() !== '') return { kind: 'command', command }
  if (type === 'http' && typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url)) return { kind: 'http', url, headers: textsOf(headers) }
  if (type === 'command') report('warning', `a hook of ${event} has no command`, 'ignored')
  else if (type === 'http') report('warning', `a hook of ${event} has no http or https URL`, 'ignored')
  else report('note', `a hook of ${event} has the type ${JSON.stringify(type) ?? 'undefined'}, which does not run here`, 'types are command and http')
  return null
}

const textsOf = (map: Json | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(isObject(map) ? map : {}).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

function timeoutOf(map: JsonObject, usual: number, report: Report): number {
  const { timeout } = map
  if (timeout === undefined) return usual
  if (typeof timeout === 'number' && timeout > 0 && timeout <= HOOK_TIMEOUT.longest) return timeout
  report('warning', `field "timeout" must be a number of seconds above 0, at most ${HOOK_TIMEOUT.longest}`, 'ignored')
  return usual
}
