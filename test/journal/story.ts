import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import type { Reply, ToolCall } from '../../src/core/contract.ts'
import type { DelegationStarted, EventBody, NewEvent, Sender, Summary } from '../../src/core/events.ts'
import type { AgentResult } from '../../src/core/result.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openJournal } from '../../src/journal/journal.ts'

/** A folder that is gone when the test is over. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A journal in a folder of its own, closed when the test is over. */
export function newJournal(options: { readonly file?: string; readonly redact?: readonly string[] } = {}): Journal {
  const file = options.file ?? join(tempFolder(), 'journal.sqlite')
  const journal = openJournal({ ...options, file, sync: 'normal' })
  onTestFinished(() => journal.close())
  return journal
}

export type Whom = {
  readonly session?: string
  readonly agent?: string
  readonly parent?: string | null
  readonly depth?: number
  readonly time?: number
  readonly key?: string
}

/** An event about an agent: by default the root run `sa-root` of the session `ss-1`. */
export function event(body: EventBody, whom: Whom = {}): NewEvent {
  const { session = 'ss-1', agent = 'sa-root', parent = null, depth = parent === null ? 0 : 1, time = 1_000, key } = whom
  return { time, session, root: 'sa-root', agent, parent, depth, ...body, ...(key !== undefined && { key }) }
}

export const sessionStarted = (title = 'Look around', kind: 'run' | 'sweep' = 'run'): EventBody =>
  ({ type: 'session.started', data: { kind, title, cwd: '/repo/src', root: '/repo', version: '0.1.0' } })

export const sessionEnded = (status = 'completed'): EventBody => ({ type: 'session.ended', data: { status } })

export const started = (data: Partial<DelegationStarted> = {}): EventBody =>
  ({ type: 'delegation.started', data: { ...DELEGATION, ...data } })

export const queued = (data: Partial<DelegationStarted> = {}): EventBody =>
  ({ type: 'delegation.queued', data: { ...DELEGATION, ...data, ahead: 3 } })

const DELEGATION: DelegationStarted = {
  title: 'Look around',
  agentType: 'explorer',
  typeHash: 'abc',
  typePath: null,
  model: 'test/model',
  system: 'You explore.',
  prompt: 'Find the entry points.',
  grant: {
    type: 'explorer', tools: [], behalf: [], confinesShell: false, root: '/repo', paths: [], types: { only: null, except: [] }, mode: 'default', depth: 1,
    limits: { maxTurns: 50, timeout: 3_600 }, defaults: { maxTurns: 50, timeout: 3600 },
  },
  removed: [],
  cwd: '/repo',
  frozen: {},
  origin: null,
  expectedDuration: null,
  background: false,
  seed: 1,
  callId: null,
}

export const ended = (result: Partial<AgentResult> = {}): EventBody => ({
  type: 'delegation.ended',
  data: {
    result: {
      agentId: 'sa-root',
      agentType: 'explorer',
      typeHash: 'abc',
      title: 'Look around',
      continuedFrom: null,
      status: 'completed',
      cause: null,
      success: true,
      output: 'Done.',
      value: null,
      error: null,
      note: '',
      model: 'test/model',
      turns: 2,
      toolCalls: 1,
      durationMs: 20,
      usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 },
      costUsd: 0.25,
      worktree: null, merge: null,
      undelivered: [],
      ...result,
    },
  },
})

export const call = (id: string, name = 'read'): ToolCall => ({ id, name, input: { path: `${id}.ts` }, local: true })

export const turnStarted = (turn: number, injected: readonly string[] = [], summary?: Summary): EventBody =>
  ({ type: 'turn.started', data: { turn, injected, ...(summary && { summary }) } })

/** A summary of all turns up to one. */
export const summed = (turns: number, more: Partial<Summary> = {}): Summary =>
  ({ text: `summary of ${turns}`, turns, model: 'test/model', usage: { input: 1_000, output: 50, cacheRead: 0, cacheWrite: 0 }, ...more })

export const turnEnded = (turn: number, text: string, calls: readonly ToolCall[] = [], more: Partial<Reply> = {}): EventBody => ({
  type: 'turn.ended',
  data: { turn, reply: { text, calls, usage: { input: 100, output: 20, cacheRead: 7, cacheWrite: 3 }, model: 'test/model', ...more } },
})

export const callStarted = (turn: number, toolCall: ToolCall): EventBody => ({ type: 'tool.started', data: { turn, call: toolCall } })

export const callEnded = (turn: number, { id, name }: ToolCall, text = `outcome of ${id}`, hands?: readonly string[]): EventBody =>
  ({ type: 'tool.ended', data: { turn, outcome: { callId: id, tool: name, ok: true, text, ...(hands && { hands }) } } })

export const sent = (text: string, from: Sender = 'user', about?: string): EventBody =>
  ({ type: 'message.sent', data: { text, from, ...(about !== undefined && { about }) } })

/** The notice of an agent's result. */
export const noticed = (of: string): EventBody =>
  ({ type: 'notification', data: { of, kind: 'agent', title: of, status: 'completed', text: `notice of ${of}` } })
