import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { relative, resolve } from 'node:path'
import type { ChosenModel } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import type { CadreEvent } from './core/events.ts'
import type { Grant } from './core/grant.ts'
import { narrow } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import { startAgent } from './delegate.ts'
import type { Services, Start } from './delegate.ts'
import type { SweepDoors, SweepRun, SweepWork } from './sweep/contract.ts'
import { hashFile, readFunctions } from './tools/reading/index.ts'

const MAX_FILES = 100_000

/** Everything a sweep asks of the rest of the system, bound to one session: its items are children of the session's root. */
export function sweepDoors(services: Services, options: {
  readonly grant: Grant
  /** Where the user stands: patterns and files of rows are relative to it, as in any shell command. */
  readonly cwd: string
  readonly type: AgentType
  readonly model: ChosenModel | null
  readonly reducer: { readonly type: AgentType; readonly model: ChosenModel } | null
  findByKey(key: string): CadreEvent | undefined
  readonly stdin: () => AsyncIterable<string>
  readonly onProgress: SweepDoors['onProgress']
}): SweepDoors {
  const { grant, type, model, reducer } = options
  const { crew } = services
  const context = { root: grant.root, paths: grant.paths, form: 'data', stopped: () => false } as const

  async function start(of: AgentType, on: ChosenModel | null, work: Pick<SweepWork, 'prompt' | 'title' | 'schema'> & { readonly key?: string; readonly signal?: AbortSignal }): Promise<SweepRun> {
    work.signal?.throwIfAborted()
    const subject = crew.newSubject(crew.root)
    const onAbort = () => {
      const agent = crew.list().find((live) => live.subject.agent === subject.agent)
      if (agent) crew.stop(agent, { ending: { status: 'killed', cause: 'user' }, reason: 'The user stopped it.' })
    }
    work.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const start: Start = {
        subject,
        type: of,
        narrowed: narrow(grant, of),
        title: work.title,
        prompt: work.prompt,
        model: on,
        ...(work.schema && { input: { outputSchema: work.schema, notes: [] } }),
        callId: null,
        ...(work.key !== undefined && { key: work.key }),
      }
      return await startAgent(services, start)
    } finally {
      work.signal?.removeEventListener('abort', onAbort)
    }
  }

  return {
    root: grant.root,
    typeHash: type.hash,
    agent: type.name,
    async listFiles(pattern) {
      const answer = await readFunctions.glob({ pattern, path: within(grant.root, options.cwd), limit: MAX_FILES }, context)
      // Our own read tool's data form, see its docstring.
      return (JSON.parse(answer.text) as { readonly paths: readonly string[] }).paths
    },
    readText: (path) => readFile(resolve(options.cwd, path), 'utf8'),
    stdin: options.stdin,
    start: (work) => start(type, model, work),
    finished(key) {
      const event = options.findByKey(key)
      return event?.type === 'delegation.ended' ? { result: event.data.result, reads: event.data.reads ?? null } : undefined
    },
    hashFile: (path) => hashFile(grant.root, path),
    ...(reducer && {
      reduce: async (prompt: string, signal: AbortSignal): Promise<AgentResult> =>
        (await start(reducer.type, reducer.model, { prompt, title: 'All results together', schema: null, signal })).result,
    }),
    onProgress: options.onProgress,
  }
}

/** The user's folder as path tools name it; the root itself when it lies elsewhere. */
function within(root: string, cwd: string): string {
  const inside = relative(root, cwd)
  return inside === '' || inside.startsWith('..') ? '.' : inside
}

/** The lines of a stream, for `--over -`. */
export const linesOf = (stream: NodeJS.ReadableStream): AsyncIterable<string> => createInterface({ input: stream, crlfDelay: Infinity })

