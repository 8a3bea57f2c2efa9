import type { PermissionMode } from '../core/agent-type.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { HookEvent } from './hook.ts'
import type { HookSubject } from './matcher.ts'

/** Whom an event is about. `agent` null: the root run. Paths absolute. */
export type HookScene = {
  readonly session: string
  readonly cwd: string
  readonly transcriptPath: string | null
  readonly mode: PermissionMode
  readonly agent: { readonly id: string; readonly type: string } | null
}

/** An event on its way to its hooks: what the matchers see, and the JSON each hook is given, with Claude Code's field names. */
export type HookOccasion = { readonly event: HookEvent; readonly subject: HookSubject | null; readonly payload: JsonObject }

/** A tool call: `name` is the tool's own, `input` checked; `callName` as the model called it, which hooks are told. */
export type HookCall = { readonly id: string; readonly name: string; readonly callName: string; readonly foreign?: boolean; readonly input: JsonObject }

export const sessionStart = (scene: HookScene, source: 'startup' | 'resume'): HookOccasion => occasion('SessionStart', scene, { word: source }, { source })

export const sessionEnd = (scene: HookScene, reason: string): HookOccasion => occasion('SessionEnd', scene, { word: reason }, { reason })

export const userPromptSubmit = (scene: HookScene, prompt: string): HookOccasion => occasion('UserPromptSubmit', scene, null, { prompt })

export const preToolUse = (scene: HookScene, call: HookCall): HookOccasion => occasion('PreToolUse', scene, subjectOf(call), toolFields(call))

export const postToolUse = (scene: HookScene, call: HookCall, response: Json): HookOccasion => occasion('PostToolUse', scene, subjectOf(call), { ...toolFields(call), tool_response: response })

export const notification = (scene: HookScene, kind: string, message: string): HookOccasion => occasion('Notification', scene, { word: kind }, { notification_type: kind, message })

/** The root run is about to end. `active`: an earlier block of this event is why it still runs. */
export const stop = (scene: HookScene, active: boolean, lastMessage: string): HookOccasion =>
  occasion('Stop', scene, null, { stop_hook_active: active, last_assistant_message: lastMessage })

/** PRM-12. */
export const subagentStart = (scene: HookScene & { readonly agent: NonNullable<HookScene['agent']> }): HookOccasion => occasion('SubagentStart', scene, { word: scene.agent.type }, {})

/** PRM-13: also after failures. `status` as results have it (KIN-09). */
export const subagentStop = (
  scene: HookScene & { readonly agent: NonNullable<HookScene['agent']> },
  ended: { readonly status: string; readonly active: boolean; readonly transcriptPath: string | null; readonly lastMessage: string },
): HookOccasion => occasion('SubagentStop', scene, { word: scene.agent.type }, {
  status: ended.status,
  stop_hook_active: ended.active,
  agent_transcript_path: ended.transcriptPath,
  last_assistant_message: ended.lastMessage,
})

function occasion(event: HookEvent, { session, cwd, transcriptPath, mode, agent }: HookScene, subject: HookSubject | null, fields: JsonObject): HookOccasion {
  const who = agent === null ? {} : { agent_id: agent.id, agent_type: agent.type }
  return { event, subject, payload: { session_id: session, transcript_path: transcriptPath, cwd, permission_mode: mode, hook_event_name: event, ...who, ...fields } }
}

const subjectOf = ({ name, foreign = false }: HookCall): HookSubject => ({ tool: name, foreign })

const toolFields = ({ id, callName, input }: HookCall): JsonObject => ({ tool_name: callName, tool_input: input, tool_use_id: id })
