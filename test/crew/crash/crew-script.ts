import type { JsonObject } from '../../../src/core/json.ts'
import type { Answer, Script, ScriptRequest } from '../../server/provider-server.ts'
import { messageText, objects } from '../../server/message-text.ts'

export const CHILDREN = ['lead one', 'lead two', 'steered', 'awaited', 'reader', 'quick'] as const

export const helperOf = (name: string): string => `helper of ${name}`

/** Everyone in the crew, by title. */
export const EVERYONE: readonly string[] = ['You are root.', ...CHILDREN, helperOf('lead one'), helperOf('lead two')]

const messagesOf = ({ body }: ScriptRequest): readonly JsonObject[] => objects(body['messages'])

const userTexts = (request: ScriptRequest): readonly string[] => messagesOf(request).filter(({ role }) => role === 'user').map(({ content }) => messageText(content))

/** The title of the agent that asks. */
export function whoAsks(request: ScriptRequest): string {
  const who = /You are (.+)\.$/.exec(userTexts(request)[0] ?? '')?.[1] ?? 'nobody'
  return who === 'root' ? 'You are root.' : who
}

/** All tool results of the conversation: the text behind each, by the tool's name. */
function results(request: ScriptRequest, tool: string): readonly string[] {
  const names = new Map(messagesOf(request).flatMap(({ tool_calls: calls }) => objects(calls ?? []).map(({ id, function: called }) => [id, (called as JsonObject)['name']])))
  return messagesOf(request).filter((message) => message['role'] === 'tool' && names.get(message['tool_call_id'] ?? '') === tool).map(({ content }) => messageText(content))
}

const delegation = (name: string, more: JsonObject = {}): { readonly name: string; readonly input: JsonObject } => ({
  name: 'agent',
  input: { description: name, prompt: `You are ${name}.`, subagent_type: name.startsWith('lead') ? 'lead' : 'explorer', ...more },
})

const READ = { calls: [{ name: 'read', input: { path: 'a.txt' } }] }

const lastLine = (text: string | undefined): string => text?.trimEnd().split('\n').at(-1) ?? ''

/**
 * The crew's provider: what it answers depends on the request alone, so a resumed run is answered as the first one was. Only when it answers
 * depends on what else was asked: who is steered or waited for does not end before that has happened, in whatever life of the process.
 */
export function crewScript(): Script {
  const sent = Promise.withResolvers<void>()
  const awaited = Promise.withResolvers<void>()

  function root(request: ScriptRequest): Answer {
    if (request.turn === 1) return { calls: CHILDREN.map((name) => delegation(name, { run_in_background: true })) }
    const ids = new Map(results(request, 'agent').map((text) => {
      const [, id = '', name = ''] = /^(?:Started|Queued) in the background as (sa-[0-9a-z]{8}) \((.+?)\)/.exec(text) ?? []
      return [name, id] as const
    }))
    // In doubt: its outcome says so, and it is sent once more.
    if (results(request, 'agent_send').every((text) => text.includes('Outcome unknown'))) {
      return { calls: [{ name: 'agent_send', input: { agent_id: ids.get('steered') ?? '', message: 'Take the short way.' } }] }
    }
    sent.resolve()
    const answers = new Map<string, string>()
    for (const text of [...userTexts(request).filter((text) => text.startsWith('<task-notification>')), ...results(request, 'agent_wait')]) {
      const [, name = '', status = '', output = ''] = /Sub-agent: (.+) \(.+\)\nStatus: (.+)\n(?:.*\n)*?Output:\n(.*)/.exec(text) ?? []
      answers.set(name, `${name}: ${status}, ${output}`)
    }
    if (!answers.has('awaited')) {
      awaited.resolve()
      return { calls: [{ name: 'agent_wait', input: { ids: [ids.get('awaited') ?? ''] } }] }
    }
    if (answers.size < CHILDREN.length) return { text: 'Some are still at work.' }
    return { text: [...answers.values()].toSorted().join('\n') }
  }

  async function child(name: string, request: ScriptRequest): Promise<Answer> {
    const first = request.turn === 1
    switch (name) {
      case 'lead one':
      case 'lead two':
        return first ? { calls: [delegation(helperOf(name))] } : { text: `${name} heard: ${lastLine(request.toolResults[0]?.text)}` }
      case 'steered': {
        if (first) return READ
        const heard = userTexts(request).some((text) => text === 'Message from the agent that started you:\nTake the short way.')
        if (heard) return { text: 'steered took the short way' }
        await sent.promise
        return READ
      }
      case 'awaited':
        await awaited.promise
        return { text: 'awaited is done' }
      case 'reader':
        return first ? READ : { text: `reader read ${lastLine(request.toolResults[0]?.text)}` }
      default:
        return { text: `${name} is done` }
    }
  }

  return (request) => {
    const name = whoAsks(request)
    return name === 'You are root.' ? root(request) : child(name, request)
  }
}
