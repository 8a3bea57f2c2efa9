import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProviderServer } from '../server/provider-server.ts'
import type { Script, ScriptRequest } from '../server/provider-server.ts'
import { cliPlace } from './place.ts'
import type { Run } from './place.ts'

const isParent = ({ body }: ScriptRequest): boolean => JSON.stringify(body['tools']).includes('"name":"agent"')
const said = ({ body }: ScriptRequest): string => JSON.stringify(body['messages'])
const count = (text: string, what: string): number => text.split(what).length - 1

/** A lead that starts two background agents and then answers at once, each time with what it knows. */
function lead(child: () => Promise<void>): Script {
  return async (request) => {
    if (!isParent(request)) {
      await child()
      return { text: `looked at ${request.task}` }
    }
    if (request.turn === 1) {
      return { calls: ['north', 'south'].map((part) => ({ name: 'agent', input: { description: part, prompt: part, subagent_type: 'explorer', run_in_background: true } })) }
    }
    return { text: `answer ${request.turn - 1}: ${count(said(request), '<task-notification>')} results, ${count(said(request), 'are still running')} nudges` }
  }
}

async function place(script: Script, settings: object = {}) {
  const server = await startProviderServer({ script })
  onTestFinished(() => server.close())
  const here = cliPlace({ 'project/package.json': '{}\n', 'cadre/settings.json': JSON.stringify(settings) })
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test', CADRE_MODEL: 'openai/scripted-model' }
  return { ...here, server, ask: (args: readonly string[]) => here.cadre(args, { env }), env: { ...here.env, ...env } }
}

describe('DEL-04, DEL-05, DEL-09: what a headless run does while its background agents run', () => {
  const slowly = () => delay(300)
  /** Both results are read in one turn, however slow the machine is. */
  const TOGETHER = { delivery: { coalesce: 30 } }
  /** Which of the two ends first is not ours to say. */
  const inOrder = (run: Run): Run => ({ ...run, stderr: run.stderr.replace('completed: south\nBackground agent completed: north', 'completed: north\nBackground agent completed: south') })

  test('wait, the default: one answer, once all results are in', async () => {
    const { ask } = await place(lead(slowly), TOGETHER)
    expect(inOrder(await ask(['-p', 'go']))).toEqual({
      code: 0, signal: null, stdout: 'answer 2: 2 results, 0 nudges\n', stderr: 'Background agent completed: north\nBackground agent completed: south\n',
    })
  })

  test('turn: each answer is told when it is given, and each arrival starts a turn', async () => {
    const { ask } = await place(lead(slowly), { delivery: { onIdle: 'turn', ...TOGETHER.delivery } })
    expect(inOrder(await ask(['-p', 'go']))).toEqual({
      code: 0, signal: null, stdout: 'answer 2: 2 results, 0 nudges\n',
      stderr: 'answer 1: 0 results, 0 nudges\nBackground agent completed: north\nBackground agent completed: south\n',
    })
  })

  test('nudge: the answer is held back three times, then the run ends, its agents go on, and what they found rides with the next turn', async () => {
    let release = () => {}
    const answered = new Promise<void>((resolve) => { release = resolve })
    const { cadre, env, ask } = await place(lead(() => answered), { delivery: { onIdle: 'nudge' } })
    const first = inOrder(await cadre(['-p', 'go'], { env, during: ({ stdout }) => void stdout?.once('data', release) }))
    const session = /--resume (ss-[0-9a-z]{8})/.exec(first.stderr)?.[1] ?? ''
    expect(first).toMatchObject({ code: 0, stdout: 'answer 4: 0 results, 3 nudges\n' })
    expect(first.stderr).toBe(
      `cadre: 2 sub-agents go on in the background; Ctrl-C stops them. Results stay in the session: cadre --resume ${session} -p '…'\n` +
      'Background agent completed: north\nBackground agent completed: south\n')
    expect(await ask(['--resume', session, '-p', 'and now?'])).toMatchObject({ code: 0, stdout: 'answer 5: 2 results, 3 nudges\n', stderr: '' })
    expect(await ask(['sessions', 'resume', session, '-p', 'once more'])).toMatchObject({
      code: 0, stdout: 'answer 6: 2 results, 3 nudges\n', stderr: 'A background task finished and was reported to the agent. (2 times)\n',
    })
  })
})

describe('JRN-03…07: cadre --resume', () => {
  test('a session whose process was killed goes on: nothing that was answered is asked for again', async () => {
    const { cadre, env, ask, server } = await place(lead(() => delay(1_500)))
    const killed = await cadre(['-p', 'go', '--output-format', 'stream-json'], {
      env, during: (child) => void child.stdout?.on('data', (text) => { if (count(String(text), '"delegation.started"') > 0 && count(String(text), '"depth":1') > 0) child.kill('SIGKILL') }),
    })
    expect(killed.signal).toBe('SIGKILL')
    const [{ id: session, status } = { id: '', status: '' }] = JSON.parse((await ask(['sessions', 'list', '--json'])).stdout) as { id: string; status: string }[]
    expect(status).toBe('interrupted')
    const before = server.requests.filter(({ request }) => request && isParent(request)).length
    expect(await ask(['--resume', session])).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 2 results, 0 nudges\n$/) })
    const parents = server.requests.flatMap(({ request }) => (request && isParent(request) ? request : [])).slice(before)
    expect(parents.every(({ turn }) => turn > 1)).toBe(true)
    expect(JSON.stringify(parents[0]?.body)).toContain('This session was interrupted and goes on.')
  })

  test('a session has one owner, and what cannot be resumed says why', async () => {
    const { cadre, env, ask } = await place(lead(() => delay(2_000)))
    const seconds: ReturnType<typeof ask>[] = []
    const first = await cadre(['-p', 'go', '--output-format', 'stream-json'], {
      env,
      during: ({ stdout }) => void stdout?.once('data', (text) => {
        const { session } = JSON.parse(String(text).split('\n')[0] ?? '') as { session: string }
        seconds.push(ask(['--resume', session, '-p', 'mine']))
      }),
    })
    const { session } = JSON.parse(first.stdout.split('\n')[0] ?? '') as { session: string }
    expect(await Promise.all(seconds)).toMatchObject([{ code: 2, stderr: expect.stringMatching(new RegExp(`^cadre: Session ${session} is in use by process \\d+\\.\n$`)) }])
    expect(await ask(['--resume', session])).toMatchObject({ code: 2, stderr: `cadre: Session ${session} has ended. Give a prompt with -p to go on with it.\n` })
    expect(await ask(['--resume', 'ss-none'])).toMatchObject({ code: 2, stderr: 'cadre: There is no session "ss-none" here. cadre sessions list shows them.\n' })
    expect(await ask(['--resume', session, '--model', 'openai/other', '-p', 'x'])).toMatchObject({ code: 2, stderr: 'cadre: Drop --model: a resumed session keeps its own.\n' })
  })
})
