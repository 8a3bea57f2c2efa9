import type { Json, JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { HookEvent } from './hook.ts'

/** What one hook said, or `failed`: why it said nothing. Nothing in it can widen: an `allow` or `approve` is not even read. */
export type HookAnswer = {
  /** Why the occasion is blocked. */
  readonly blocked: string | null
  /** Why the agent is to stop altogether (`continue: false`). */
  readonly stop: string | null
  /** Of a PreToolUse hook: why an approval is needed first. */
  readonly ask: string | null
  readonly context: string | null
  readonly updatedInput: JsonObject | null
  readonly failed: string | null
}

const SILENT: HookAnswer = { blocked: null, stop: null, ask: null, context: null, updatedInput: null, failed: null }
const NO_REASON = 'a hook blocked it and gave no reason'
/** Events whose plain output is for the model. */
const PLAIN_CONTEXT: readonly HookEvent[] = ['SessionStart', 'UserPromptSubmit']
/** What is kept of one text of a hook. */
const TEXT_LIMIT = { chars: 10_000 }

export const failedAnswer = (failed: string): HookAnswer => ({ ...SILENT, failed })

/** The answer of a command by its exit code (PRM-11): 0 is what it printed, 2 blocks with stderr as the reason, any other is a failing hook. */
export function answerOfExit(event: HookEvent, { code, stdout, stderr }: { readonly code: number | null; readonly stdout: string; readonly stderr: string }): HookAnswer {
  if (code === 0) return answerOfText(event, stdout)
  if (code === 2) return { ...SILENT, blocked: cut(stderr) ?? NO_REASON }
  const [line = ''] = stderr.trim().split('\n')
  return failedAnswer(`it ended with ${code === null ? 'a signal' : `exit code ${code}`}${line === '' ? '' : `: ${line.slice(0, 200)}`}`)
}

/** The answer in what a hook printed, or in the body of a URL's answer: a JSON object, or plain text, which some events give to the model. */
export function answerOfText(event: HookEvent, text: string): HookAnswer {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{')) return { ...SILENT, context: PLAIN_CONTEXT.includes(event) ? cut(trimmed) : null }
  try {
    const value = JSON.parse(trimmed) as Json
    return isObject(value) ? answerOfObject(event, value) : failedAnswer('its output is not a JSON object')
  } catch {
    return failedAnswer('its output begins like JSON and is none')
  }
}

function answerOfObject(event: HookEvent, answer: JsonObject): HookAnswer {
  const { decision, reason, stopReason } = answer
  const specific = isObject(answer['hookSpecificOutput']) ? answer['hookSpecificOutput'] : {}
  const { permissionDecision, permissionDecisionReason, additionalContext, updatedInput } = specific
  const about = specific['hookEventName']
  if (about !== undefined && about !== event) return failedAnswer(`its hookSpecificOutput is for ${JSON.stringify(about)}, and this was ${event}`)
  const why = cut(permissionDecisionReason) ?? cut(reason) ?? NO_REASON
  const blocks = decision === 'block' || decision === 'deny' || (event === 'PreToolUse' && permissionDecision === 'deny')
  return {
    blocked: blocks ? why : null,
    stop: answer['continue'] === false ? (cut(stopReason) ?? cut(reason) ?? 'a hook stopped it and gave no reason') : null,
    ask: event === 'PreToolUse' && (permissionDecision === 'ask' || decision === 'ask') ? (cut(permissionDecisionReason) ?? cut(reason) ?? 'a hook asks for it') : null,
    context: cut(additionalContext) ?? cut(answer['additionalContext']),
    updatedInput: event === 'PreToolUse' && isObject(updatedInput) ? updatedInput : null,
    failed: null,
  }
}

const cut = (text: Json | undefined): string | null => (typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, TEXT_LIMIT.chars) : null)
