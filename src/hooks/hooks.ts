import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { stableJson } from '../core/json.ts'
import { callUrl, isAllowedUrl } from './call-url.ts'
import { answerOfExit, answerOfText, failedAnswer } from './hook-answer.ts'
import type { HookAnswer } from './hook-answer.ts'
import { hookName } from './hook.ts'
import type { Hook, HookEvent } from './hook.ts'
import type { HookOccasion } from './hook-payload.ts'
import { matchesSubject } from './matcher.ts'
import { runCommand } from './run-command.ts'

/** Managed settings that bind every agent (SCO-08). `allowedUrls` null: no list, every URL. */
export type HookPolicy = { readonly disabled: boolean; readonly managedOnly: boolean; readonly allowedUrls: readonly string[] | null }

export const NO_HOOK_POLICY: HookPolicy = { disabled: false, managedOnly: false, allowedUrls: null }

/**
 * What the hooks of one event said together. It only ever takes away: `blocked` and `stop` beat `ask`, and `updatedInput` is a wish: whoever
 * takes it checks it as a new call, by its schema, grant, rules and mode, and asks for it if the call it replaces would have asked.
 */
export type HookResult = {
  /** Why the occasion is blocked, every reason on lines of its own. Null for events that cannot be. */
  readonly blocked: string | null
  /** Why the agent is to end now. */
  readonly stop: string | null
  /** Why this call needs an approval first (PreToolUse). */
  readonly ask: string | null
  /** For the model, in the order the hooks were written. */
  readonly additionalContext: readonly string[]
  readonly updatedInput: JsonObject | null
  readonly diagnostics: readonly Diagnostic[]
}

export type Hooks = {
  /** Whether any hook listens to an event at all: what spares building a payload. */
  has(event: HookEvent): boolean
  /** Runs every hook of the event that matches, side by side; never rejects. Aborting ends them, and then nothing they said counts but a block. */
  fire(occasion: HookOccasion, signal: AbortSignal): Promise<HookResult>
}

export type HooksOptions = {
  /** Trusted ones only: hooks of an untrusted project are never handed in (SCO-06). In the order their words are to be heard. */
  readonly hooks: readonly Hook[]
  readonly policy: HookPolicy
  /** Where commands run, and what they are given (`hookEnvironment`). */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** What a block does not stop: it has happened already, or a child's start, which PRM-12 says cannot be blocked. */
const UNBLOCKABLE: readonly HookEvent[] = ['SessionStart', 'SessionEnd', 'Notification', 'SubagentStart']

/** The hooks of one agent or session, ready to fire (PRM-11). Each fault of a hook is reported once, however often it fires. */
export function createHooks({ hooks: all, policy, cwd, env }: HooksOptions): Hooks {
  const hooks = policy.disabled ? [] : all.filter(({ managed }) => managed || !policy.managedOnly)
  const reported = new Set<string>()

  async function run(hook: Hook, input: string, signal: AbortSignal): Promise<HookAnswer> {
    const { action, event } = hook
    const timeoutMs = hook.timeout * 1_000
    if (action.kind === 'http') {
      if (policy.allowedUrls !== null && !isAllowedUrl(action.url, policy.allowedUrls)) return failedAnswer('its URL is not in allowedHttpHookUrls')
      const answer = await callUrl({ url: action.url, headers: action.headers, body: input, timeoutMs }, signal)
      return 'failed' in answer ? failedAnswer(answer.failed) : answerOfText(event, answer.body)
    }
    const end = await runCommand({ command: action.command, input, cwd, env, timeoutMs }, signal)
    if (end.ended === 'timeout') return failedAnswer(`it ran longer than ${hook.timeout} s and was ended`)
    if (end.ended === 'stopped') return failedAnswer(STOPPED)
    return end.ended === null ? answerOfExit(event, end) : failedAnswer(`it could not be started (${end.ended.error})`)
  }

  /** A diagnostic for a fault, the first time. */
  function report(hook: Hook, message: string, remedy: string): readonly Diagnostic[] {
    const diagnostic: Diagnostic = { ...hook.origin, severity: 'warning', message: `${hookName(hook)}: ${message}`, remedy }
    const key = stableJson(diagnostic)
    if (reported.has(key)) return []
    reported.add(key)
    return [diagnostic]
  }

  return {
    has: (event) => hooks.some((hook) => hook.event === event),
    async fire({ event, subject, payload }, signal) {
      const matching = distinct(hooks.filter((hook) => hook.event === event && matchesSubject(hook.matcher, subject)))
      const input = JSON.stringify(payload)
      const answers = await Promise.all(matching.map(async (hook) => ({ hook, answer: await run(hook, input, signal).catch((error: unknown) => failedAnswer(messageOf(error))) })))
      const diagnostics = answers.flatMap(({ hook, answer }) => (answer.failed === null || answer.failed === STOPPED ? [] : report(hook, answer.failed, 'the run goes on without it')))
      const result = joined(answers.map(({ answer }) => answer))
      if (!UNBLOCKABLE.includes(event) || (result.blocked === null && result.stop === null)) return { ...result, diagnostics }
      const blocking = answers.filter(({ answer }) => answer.blocked !== null || answer.stop !== null)
      return { ...result, blocked: null, stop: null, diagnostics: [...diagnostics, ...blocking.flatMap(({ hook }) => report(hook, `${event} cannot be blocked`, 'its reason is ignored'))] }
    },
  }
}

const STOPPED = 'it was stopped'

/** The same command or URL written twice runs once. */
const distinct = (hooks: readonly Hook[]): readonly Hook[] =>
  [...new Map(hooks.toReversed().map((hook) => [stableJson(hook.action), hook])).values()].toReversed()

function joined(answers: readonly HookAnswer[]): Omit<HookResult, 'diagnostics'> {
  const said = (pick: (answer: HookAnswer) => string | null): readonly string[] => answers.flatMap((answer) => pick(answer) ?? [])
  const lines = (texts: readonly string[]): string | null => (texts.length === 0 ? null : texts.join('\n'))
  const inputs = new Map(answers.flatMap(({ updatedInput }) => (updatedInput === null ? [] : [[stableJson(updatedInput), updatedInput] as const])))
  // Neither of two hooks that want different inputs has agreed to the other's, or to the input as it was.
  const torn = inputs.size > 1 ? ['two hooks change its input, each in its own way'] : []
  const [updatedInput = null] = inputs.values()
  return {
    blocked: lines([...said(({ blocked }) => blocked), ...torn]),
    stop: lines(said(({ stop }) => stop)),
    ask: lines(said(({ ask }) => ask)),
    additionalContext: said(({ context }) => context),
    updatedInput: inputs.size > 1 ? null : updatedInput,
  }
}
