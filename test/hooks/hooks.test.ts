import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { isAllowedUrl } from '../../src/hooks/call-url.ts'
import { hookEnvironment } from '../../src/hooks/hook-environment.ts'
import * as payload from '../../src/hooks/hook-payload.ts'
import { createHooks, NO_HOOK_POLICY } from '../../src/hooks/hooks.ts'
import type { HookPolicy, HookResult } from '../../src/hooks/hooks.ts'
import { parseHooks } from '../../src/hooks/parse-hooks.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-hooks-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const env = hookEnvironment(process.env, { projectDir: folder, extra: [] })
const never = new AbortController().signal
const SILENT: HookResult = { blocked: null, stop: null, ask: null, additionalContext: [], updatedInput: null, diagnostics: [] }

const agent = { id: 'sa-1', type: 'code-reviewer' }
const scene: payload.HookScene = { session: 's1', cwd: folder, transcriptPath: null, mode: 'default', agent }
const call: payload.HookCall = { id: 'call_1', name: 'bash', callName: 'Bash', input: { command: 'ls' } }
const bash = payload.preToolUse(scene, call)
const subject = { ...scene, agent }

/** Hooks of settings text, ready to fire. */
function hooksOf(value: Json, policy: HookPolicy = NO_HOOK_POLICY, managed = false) {
  const { hooks, diagnostics } = parseHooks(value, { path: 's.json', managed })
  expect(diagnostics).toEqual([])
  return createHooks({ hooks, policy, cwd: folder, env })
}
const commands = (event: string, ...lines: readonly string[]): JsonObject => ({ [event]: [{ hooks: lines.map((command) => ({ type: 'command', command })) }] })
const fire = (occasion: payload.HookOccasion, ...lines: readonly string[]) => hooksOf(commands(occasion.event, ...lines)).fire(occasion, never)
const says = (value: Json) => `printf '%s' '${JSON.stringify(value).replaceAll('\'', String.raw`'\''`)}'`
const specific = (fields: JsonObject) => says({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } })
const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10)
}

describe('PRM-11: what a command hook says', () => {
  const ANSWERS: readonly (readonly [what: string, command: string, says: Partial<HookResult>])[] = [
    ['nothing', 'true', {}],
    ['plain text', 'echo hello', {}],
    ['exit 2 blocks with stderr as the reason', 'echo out; echo not here >&2; exit 2', { blocked: 'not here' }],
    ['exit 2 without a word blocks too', 'exit 2', { blocked: 'a hook blocked it and gave no reason' }],
    ['decision: block', says({ decision: 'block', reason: 'no' }), { blocked: 'no' }],
    ['permissionDecision: deny', specific({ permissionDecision: 'deny', permissionDecisionReason: 'it’s no' }), { blocked: 'it’s no' }],
    ['permissionDecision: ask', specific({ permissionDecision: 'ask', permissionDecisionReason: 'sure?' }), { ask: 'sure?' }],
    ['permissionDecision: allow counts for nothing', specific({ permissionDecision: 'allow' }), {}],
    ['decision: approve counts for nothing', says({ decision: 'approve' }), {}],
    ['continue: false', says({ continue: false, stopReason: 'enough' }), { stop: 'enough' }],
    ['additionalContext', specific({ additionalContext: 'mind the gap' }), { additionalContext: ['mind the gap'] }],
    ['updatedInput', specific({ permissionDecision: 'allow', updatedInput: { command: 'ls -l' } }), { updatedInput: { command: 'ls -l' } }],
    ['a block written with other answers', specific({ permissionDecision: 'deny', updatedInput: { command: 'x' }, additionalContext: 'c' }), { blocked: 'a hook blocked it and gave no reason', updatedInput: { command: 'x' }, additionalContext: ['c'] }],
    ['a program that does not read what it is given', 'exec 0<&-; exit 0', {}],
  ]
  for (const [what, command, expected] of ANSWERS) {
    test(what, async () => {
      expect(await fire(bash, command)).toEqual({ ...SILENT, ...expected })
    })
  }

  const FAILING: readonly (readonly [what: string, command: string, line: string])[] = [
    ['another exit code', 'echo oh no >&2; exit 1', 'it ended with exit code 1: oh no'],
    ['a program that is not there', 'no-such-program 2>/dev/null', 'it ended with exit code 127'],
    ['a signal', 'kill -9 $$', 'it ended with a signal'],
    ['half of a JSON object', 'printf "{"', 'its output begins like JSON and is none'],
    ['the answer to another event', says({ hookSpecificOutput: { hookEventName: 'Stop', permissionDecision: 'deny' } }), 'its hookSpecificOutput is for "Stop", and this was PreToolUse'],
  ]
  for (const [what, command, line] of FAILING) {
    test(`${what} is one diagnostic, however often it fires, and the other hooks count`, async () => {
      const hooks = hooksOf(commands('PreToolUse', command, 'echo no >&2; exit 2'))
      const [first, second] = [await hooks.fire(bash, never), await hooks.fire(bash, never)]
      expect(first.diagnostics.map(formatDiagnostic)).toEqual([`s.json:1: warning: PreToolUse hook ${JSON.stringify(command)}: ${line}; the run goes on without it`])
      expect([first.blocked, second.blocked, second.diagnostics]).toEqual(['no', 'no', []])
    })
  }

  test('hooks run side by side and are heard in the order they were written; the same one runs once', async () => {
    const meet = (mine: string, other: string) => `touch ${mine}; while [ ! -e ${other} ]; do sleep 0.01; done; ${specific({ additionalContext: mine })}`
    const result = await fire(bash, meet('a', 'b'), meet('b', 'a'), 'echo x >> count', 'echo x >> count')
    expect([result.additionalContext, readFileSync(join(folder, 'count'), 'utf8')]).toEqual([['a', 'b'], 'x\n'])
  })

  test('two hooks that change the input, each in its own way, block; two that agree do not', async () => {
    const change = (command: string, more: JsonObject = {}) => specific({ updatedInput: { command }, ...more })
    expect(await fire(bash, change('a'), change('b'))).toEqual({ ...SILENT, blocked: 'two hooks change its input, each in its own way' })
    expect(await fire(bash, change('a'), change('a', { additionalContext: 'x' }))).toEqual({ ...SILENT, updatedInput: { command: 'a' }, additionalContext: ['x'] })
  })

  test('every reason of several blocks is kept', async () => {
    expect((await fire(bash, 'echo one >&2; exit 2', says({ decision: 'block', reason: 'two' }))).blocked).toBe('one\ntwo')
  })

  test('plain output goes to the model where the event is made for it', async () => {
    expect((await fire(payload.userPromptSubmit(scene, 'hi'), 'echo today is Monday')).additionalContext).toEqual(['today is Monday'])
    expect((await fire(payload.sessionStart(scene, 'startup'), 'echo a')).additionalContext).toEqual(['a'])
  })

  test('what floods or never reads its pipe is cut, not waited for', async () => {
    const result = await fire(payload.userPromptSubmit(scene, 'x'.repeat(2_000_000)), 'yes | head -c 3000000')
    expect(result.additionalContext.map((text) => text.length)).toEqual([10_000])
  })
})

describe('a hook’s process', () => {
  test('one that runs too long is ended with all it started, whatever signals it ignores', async () => {
    const command = 'trap "" TERM; sleep 1000 & echo $! > slow.pid; wait; sleep 1000'
    const hooks = hooksOf({ timeout: 0.5, ...commands('PreToolUse', command) })
    const result = await hooks.fire(bash, never)
    expect(result.diagnostics.map(({ message }) => message)).toEqual([`PreToolUse hook ${JSON.stringify(command)}: it ran longer than 0.5 s and was ended`])
    await until(() => !alive(Number(readFileSync(join(folder, 'slow.pid'), 'utf8'))))
  })

  test('what it leaves in the background ends with it and is not waited for', async () => {
    expect(await fire(bash, 'sleep 1000 & echo $! > left.pid')).toEqual(SILENT)
    await until(() => !alive(Number(readFileSync(join(folder, 'left.pid'), 'utf8'))))
  })

  test('a child that left the group and keeps the pipe open is not waited for', async () => {
    expect((await fire(bash, 'setsid sh -c "echo \\$\\$ > gone.pid; exec sleep 1000" & while [ ! -s gone.pid ]; do sleep 0.01; done; echo no >&2; exit 2')).blocked).toBe('no')
    process.kill(Number(readFileSync(join(folder, 'gone.pid'), 'utf8')), 'SIGKILL')
  })

  test('stopping the run ends it, without a diagnostic', async () => {
    const stopped = new AbortController()
    const fired = hooksOf(commands('PreToolUse', 'echo $$ > stop.pid; exec sleep 1000')).fire(bash, stopped.signal)
    await until(() => existsSync(join(folder, 'stop.pid')) && readFileSync(join(folder, 'stop.pid'), 'utf8') !== '')
    stopped.abort()
    expect(await fired).toEqual(SILENT)
    expect(alive(Number(readFileSync(join(folder, 'stop.pid'), 'utf8')))).toBe(false)
    expect(await hooksOf(commands('PreToolUse', 'echo x > late')).fire(bash, stopped.signal)).toEqual(SILENT)
    expect(existsSync(join(folder, 'late'))).toBe(false)
  })

  test('it starts in the folder it is given, and a folder that is gone is a diagnostic', async () => {
    expect((await fire(payload.userPromptSubmit(scene, 'x'), 'pwd; echo $CLAUDE_PROJECT_DIR $CADRE_PROJECT_DIR')).additionalContext).toEqual([`${folder}\n${folder} ${folder}`])
    const { hooks } = parseHooks(commands('PreToolUse', 'true'), { path: 's.json' })
    const gone = createHooks({ hooks, policy: NO_HOOK_POLICY, cwd: join(folder, 'gone'), env })
    expect((await gone.fire(bash, never)).diagnostics.map(({ message }) => message)).toEqual([expect.stringMatching(/could not be started \(.*ENOENT/)])
  })

  test('SHL-05: its environment is a short list, without keys even where the settings name them', () => {
    const from = { PATH: '/bin', HOME: '/h', OPENAI_API_KEY: 'k', GH_TOKEN: 't', db_password: 'p', DEBUG: '1', NODE_OPTIONS: '--x' }
    expect(hookEnvironment(from, { projectDir: '/p', extra: ['DEBUG', 'OPENAI_API_KEY', 'db_password', 'MISSING'] })).toEqual({ PATH: '/bin', HOME: '/h', DEBUG: '1', CLAUDE_PROJECT_DIR: '/p', CADRE_PROJECT_DIR: '/p' })
  })
})

describe('what a hook is told', () => {
  const common = { session_id: 's1', transcript_path: null, cwd: folder, permission_mode: 'default' }
  const who = { agent_id: 'sa-1', agent_type: 'code-reviewer' }
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'call_1' }
  const OCCASIONS: readonly (readonly [string, payload.HookOccasion, JsonObject])[] = [
    ['PRM-12: a tool call of a child', bash, { ...who, ...tool }],
    ['a tool call of the root run', payload.preToolUse({ ...scene, agent: null }, call), tool],
    ['a call that has run', payload.postToolUse(scene, call, { text: 'x' }), { ...who, ...tool, tool_response: { text: 'x' } }],
    ['PRM-12: a child that starts', payload.subagentStart(subject), who],
    ['PRM-13: a child that ended', payload.subagentStop(subject, { status: 'failed', active: true, transcriptPath: '/t', lastMessage: 'bye' }), { ...who, status: 'failed', stop_hook_active: true, agent_transcript_path: '/t', last_assistant_message: 'bye' }],
    ['the end of the root run', payload.stop({ ...scene, agent: null }, false, 'bye'), { stop_hook_active: false, last_assistant_message: 'bye' }],
    ['a prompt', payload.userPromptSubmit(scene, 'hi'), { ...who, prompt: 'hi' }],
    ['a session that starts', payload.sessionStart({ ...scene, agent: null }, 'resume'), { source: 'resume' }],
    ['a session that ends', payload.sessionEnd({ ...scene, agent: null }, 'other'), { reason: 'other' }],
    ['a notification', payload.notification({ ...scene, agent: null }, 'approval', 'm'), { notification_type: 'approval', message: 'm' }],
  ]
  for (const [what, occasion, fields] of OCCASIONS) {
    test(what, async () => {
      await fire(occasion, 'cat > told.json')
      expect(JSON.parse(readFileSync(join(folder, 'told.json'), 'utf8'))).toEqual({ ...common, hook_event_name: occasion.event, ...fields })
    })
  }

  test('PRM-12: a hook of another type or tool does not hear of it', async () => {
    const hooks = hooksOf({
      SubagentStart: [{ matcher: 'planner', hooks: [{ type: 'command', command: specificContext('planner') }] }, { matcher: 'code-reviewer', hooks: [{ type: 'command', command: specificContext('reviewer') }] }],
      PreToolUse: [{ matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'exit 2' }] }],
    })
    expect((await hooks.fire(payload.subagentStart(subject), never)).additionalContext).toEqual(['reviewer'])
    expect(await hooks.fire(bash, never)).toEqual(SILENT)
    expect([hooks.has('PreToolUse'), hooks.has('Stop')]).toEqual([true, false])
  })

  test('PRM-12: SubagentStart cannot block, and says so once', async () => {
    const hooks = hooksOf(commands('SubagentStart', 'exit 2', says({ continue: false, additionalContext: 'c' })))
    const first = await hooks.fire(payload.subagentStart(subject), never)
    expect([first.blocked, first.stop, first.additionalContext]).toEqual([null, null, ['c']])
    expect(first.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('SubagentStart cannot be blocked'), expect.stringContaining('SubagentStart cannot be blocked')])
    expect((await hooks.fire(payload.subagentStart(subject), never)).diagnostics).toEqual([])
  })

  test('PRM-13: SubagentStop blocks with the reason the child is given', async () => {
    expect((await fire(payload.subagentStop(subject, { status: 'completed', active: false, transcriptPath: null, lastMessage: '' }), says({ decision: 'block', reason: 'run the tests' }))).blocked).toBe('run the tests')
  })
})

const specificContext = (text: string) => says({ hookSpecificOutput: { additionalContext: text } })

describe('SCO-08: managed policy binds every hook', () => {
  const block = commands('PreToolUse', 'exit 2')
  test('disableAllHooks leaves none', async () => {
    const hooks = hooksOf(block, { ...NO_HOOK_POLICY, disabled: true }, true)
    expect([hooks.has('PreToolUse'), await hooks.fire(bash, never)]).toEqual([false, SILENT])
  })

  test('allowManagedHooksOnly leaves the managed ones', async () => {
    const policy = { ...NO_HOOK_POLICY, managedOnly: true }
    expect((await hooksOf(block, policy).fire(bash, never)).blocked).toBeNull()
    expect((await hooksOf(block, policy, true).fire(bash, never)).blocked).not.toBeNull()
  })

  for (const [entry, url, allowed] of [
    ['https://h.example.com/x', 'https://h.example.com/x', true],
    ['https://h.example.com', 'https://H.example.com/', true],
    ['https://h.example.com/*', 'https://h.example.com/a/b?c', true],
    ['https://*.example.com/*', 'https://h.example.com/a', true],
    ['https://*.example.com/*', 'https://evil.org/?.example.com/a', false],
    ['https://h.example.com/x', 'https://h.example.com/xy', false],
    ['https://h.example.com/*', 'https://h.example.com@evil.org/', false],
    ['https://h.example.com/*', 'http://h.example.com/a', false],
    ['https://hxexample.com/', 'https://h.example.com/', false],
    ['https://h.example.com/', 'https://hxexample.com/', false],
  ] as const) {
    test(`${entry} in allowedHttpHookUrls ${allowed ? 'lets' : 'does not let'} ${url} through`, () => {
      expect(isAllowedUrl(url, [entry])).toBe(allowed)
    })
  }
})

describe('PRM-11: a hook at a URL', () => {
  const heard: { readonly url: string | undefined; readonly body: string; readonly type: string | undefined; readonly extra: string | undefined }[] = []
  const replies: Readonly<Record<string, (response: ServerResponse) => void>> = {
    '/silent': (response) => void response.writeHead(204).end(),
    '/block': (response) => void response.end('{"decision": "block", "reason": "no"}'),
    '/fails': (response) => void response.writeHead(500).end('{"decision": "block"}'),
    '/moved': (response) => void response.writeHead(302, { location: '/block' }).end(),
    '/drops': (response) => void response.destroy(),
    '/hangs': () => undefined,
    '/floods': (response) => void response.end('x'.repeat(300_000)),
    '/broken': (response) => void response.end('{'),
  }
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      heard.push({ url: request.url, body, type: request.headers['content-type'], extra: request.headers['x-extra'] as string | undefined })
      replies[request.url ?? '']?.(response)
    })
  })
  let base = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = (path: string, more: JsonObject = {}): Json => ({ PreToolUse: [{ hooks: [{ type: 'http', url: `${base}${path}`, headers: { 'X-Extra': 'e' }, ...more }] }] })

  test('it is sent the payload as JSON and answers like a command', async () => {
    expect(await hooksOf(at('/block')).fire(bash, never)).toEqual({ ...SILENT, blocked: 'no' })
    expect(heard.at(-1)).toEqual({ url: '/block', body: JSON.stringify(bash.payload), type: 'application/json', extra: 'e' })
    expect(await hooksOf(at('/silent')).fire(bash, never)).toEqual(SILENT)
  })

  for (const [path, message, more] of [
    ['/fails', 'it answered 500', {}],
    ['/moved', 'it answered 302', {}],
    ['/drops', /it could not be reached \(.+\)/, {}],
    ['/hangs', 'it gave no answer within 0.2 s', { timeout: 0.2 }],
    ['/floods', 'its answer is longer than 100000 bytes', {}],
    ['/broken', 'its output begins like JSON and is none', {}],
  ] as const) {
    test(`${path}: one diagnostic, and the run goes on`, async () => {
      const result = await hooksOf(at(path, more)).fire(bash, never)
      expect(result).toEqual({ ...SILENT, diagnostics: [expect.objectContaining({ message: expect.stringMatching(message) as string })] })
    })
  }

  test('SCO-08: a URL that is not in allowedHttpHookUrls is not asked', async () => {
    const before = heard.length
    const result = await hooksOf(at('/block'), { ...NO_HOOK_POLICY, allowedUrls: [] }).fire(bash, never)
    expect([result.blocked, result.diagnostics[0]?.message, heard.length]).toEqual([null, expect.stringContaining('its URL is not in allowedHttpHookUrls'), before])
    expect((await hooksOf(at('/block'), { ...NO_HOOK_POLICY, allowedUrls: [`${base}/*`] }).fire(bash, never)).blocked).toBe('no')
  })
})
