import type { Answer, Script, ScriptRequest } from './answer.ts'

const hasTool = ({ body }: ScriptRequest, name: string): boolean => JSON.stringify(body['tools'] ?? []).includes(`"name":"${name}"`)

const LATENCY_MS = 200
const READS_PER_AGENT = 3

/** The sub-agent of the scenarios: reads package.json a few times, then says what it saw. */
function reader(request: ScriptRequest): Answer {
  if (request.turn <= READS_PER_AGENT && hasTool(request, 'read')) {
    return { calls: [{ name: 'read', input: { path: 'package.json', offset: request.turn } }] }
  }
  return { text: `Done: "${request.task.slice(0, 80)}" after ${request.turn} turns.` }
}

/** A parent that delegates `width` times in its first reply and sums up in its second; every other request is a sub-agent's. */
const fanOut = (width: number): Script => (request) => {
  if (!hasTool(request, 'agent')) return reader(request)
  if (request.turn === 1) {
    return {
      text: `Delegating to ${width} sub-agents.`,
      calls: Array.from({ length: width }, (_, i) => ({
        name: 'agent', input: { subagent_type: 'explorer', description: `part ${i + 1}`, prompt: `Look at part ${i + 1} of ${width}.` },
      })),
    }
  }
  const firstLines = request.toolResults.map(({ text }) => text.split('\n')[0])
  return { text: [`${firstLines.length} sub-agents answered:`, ...firstLines].join('\n') }
}

const slow = (script: Script): Script => async (request) => ({ latencyMs: LATENCY_MS, chunks: 8, ...(await script(request)) })

/** Every third request goes wrong in another way, the same one at its next try does not. */
function flaky(script: Script): Script {
  const faults: readonly Answer[] = [
    { status: 429, text: 'Too many requests.', headers: { 'retry-after': '1' } }, { status: 529, text: 'Overloaded' },
    { drop: 'before' }, { drop: 'mid-stream' }, { malformed: 'chunk' }, { streamError: 'Overloaded' }, { empty: true },
  ]
  let count = 0
  return async (request) => {
    count += 1
    const answer = await script(request)
    return count % 3 === 0 ? { ...answer, ...faults[(count / 3 - 1) % faults.length] } : answer
  }
}

export type Scenario = { readonly about: string; readonly script: Script }

/** Scripts by name, for `main.ts`. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  echo: {
    about: 'answers with what was asked',
    script: ({ task, turn }) => ({ text: `Turn ${turn}. You wrote: ${task}`, chunks: 4 }),
  },
  fanout: { about: 'a parent that delegates to 8 sub-agents, each reading three times', script: fanOut(8) },
  'fanout-100': { about: 'the same with 100 sub-agents', script: fanOut(100) },
  slow: { about: `fanout with ${LATENCY_MS} ms before each reply`, script: slow(fanOut(8)) },
  flaky: { about: 'fanout where every third request goes wrong in another way', script: flaky(fanOut(8)) },
  limited: { about: 'always answers 429', script: () => ({ status: 429, text: 'Too many requests.' }) },
  silent: { about: 'accepts and never answers', script: () => ({ silent: true }) },
}
