/** The events hooks may listen to (PRM-11). */
export const HOOK_EVENTS = ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Notification', 'Stop', 'SubagentStart', 'SubagentStop'] as const

export type HookEvent = (typeof HOOK_EVENTS)[number]

export const isHookEvent = (name: string): name is HookEvent => (HOOK_EVENTS as readonly string[]).includes(name)

/** What a hook does: run a shell command or ask a URL. */
export type HookAction =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** One hook, checked. `matcher` null: every occasion. `timeout` in seconds. `origin`: where it was written, `line` 1-based. */
export type Hook = {
  readonly event: HookEvent
  readonly matcher: string | null
  readonly action: HookAction
  readonly timeout: number
  readonly origin: { readonly path: string; readonly line: number }
  /** Written in managed settings: the only ones that count under `allowManagedHooksOnly` (SCO-08). */
  readonly managed: boolean
}

/** A hook in words, for diagnostics. */
export const hookName = ({ event, action }: Hook): string => `${event} hook ${JSON.stringify(action.kind === 'command' ? action.command : action.url)}`
