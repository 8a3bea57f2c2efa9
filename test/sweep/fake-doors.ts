import { createHash } from 'node:crypto'
import { NO_USAGE } from '../../src/core/contract.ts'
import type { Json } from '../../src/core/json.ts'
import type { AgentResult } from '../../src/core/result.ts'
import { isObject } from '../../src/core/json.ts'
import { prepareSweep } from '../../src/sweep/sweep.ts'
import type { SweepDoors, SweepOptions, SweepProgress, SweepRun, SweepSummary, SweepWork } from '../../src/sweep/sweep.ts'

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** An agent's result: completed with no value, but for what is given. */
export function resultOf(given: Partial<AgentResult> = {}): AgentResult {
  const status = given.status ?? 'completed'
  return {
    agentId: 'sa-00000000', agentType: 'tester', typeHash: 'type-1', title: '', continuedFrom: null, status, cause: null, success: status === 'completed',
    output: '', value: null, error: null, note: '', model: 'script', turns: 1, toolCalls: 0, durationMs: 5, usage: NO_USAGE, costUsd: 0,
    worktree: null, merge: null, undelivered: [],
    ...given,
  }
}

export const failed = (error: string, cause: AgentResult['cause'] = 'program'): AgentResult => resultOf({ status: 'failed', cause, error })

export type Agent = (work: SweepWork, items: readonly string[]) => Promise<AgentResult> | AgentResult

/** Doors over a table of files and a journal in memory; `agent` plays the agents. A JSON prompt tells it its items, else they are empty. */
export function fakeDoors({ files = {}, agent = () => resultOf(), lines = [], ...rest }: {
  readonly files?: Record<string, string>
  readonly agent?: Agent
  readonly lines?: readonly string[]
} & Partial<Omit<SweepDoors, 'agent'>> = {}) {
  const journal = new Map<string, SweepRun>()
  const started: SweepWork[] = []
  const progress: SweepProgress[] = []
  let ids = 0
  const doors: SweepDoors = {
    root: '/nowhere',
    cwd: process.cwd(),
    typeHash: 'type-1',
    agent: 'tester',
    listFiles: (pattern) => Promise.resolve(Object.keys(files).filter((path) => matches(pattern, path)).toSorted()),
    async readFile(path) {
      if (!Object.hasOwn(files, path)) throw new Error(`No such file: ${path}`)
      return Buffer.from(files[path] ?? '')
    },
    async *stdin() {
      yield* lines
    },
    async start(work) {
      started.push(work)
      const agentId = `sa-${String((ids += 1)).padStart(8, '0')}`
      const items = itemsOf(work.prompt)
      const result = { ...(await agent(work, items)), agentId, title: work.title }
      const reads = items.filter((path) => Object.hasOwn(files, path)).map((path) => ({ path, hash: hashOf(files[path] ?? '') }))
      const run = { result, reads }
      journal.set(work.key, run)
      return run
    },
    finished: (key) => journal.get(key),
    hashFile: (path) => (Object.hasOwn(files, path) ? hashOf(files[path] ?? '') : null),
    onProgress: (latest) => progress.push(latest),
    ...rest,
  }
  return { doors, journal, started, progress }
}

/** What the items of a prompt made without a template are. */
function itemsOf(prompt: string): readonly string[] {
  if (!prompt.startsWith('{"items"')) return []
  const parsed = JSON.parse(prompt) as Json
  const items = isObject(parsed) ? parsed['items'] : null
  if (!Array.isArray(items)) return []
  return items.flatMap((entry: Json) => (isObject(entry) && typeof entry['item'] === 'string' ? [entry['item']] : []))
}

/** Enough of a glob for a table of files: `*` is anything. */
const matches = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\*+\/?/g, '.*')}$`).test(path)

/** Options of a sweep over all files, one item per agent, but for what is given. */
export const options = (given: Partial<SweepOptions> = {}): SweepOptions => ({
  over: '**/*', prompt: null, batch: 1, parallel: 4, signal: new AbortController().signal, ...given,
})

/** `count` small files: `src/f0000.ts`, … */
export const manyFiles = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/f${String(index).padStart(4, '0')}.ts`, `// ${index}`]))

/** Prepares a sweep and runs it. */
export const sweep = async (given: SweepOptions, doors: SweepDoors): Promise<SweepSummary> => (await prepareSweep(given, doors)).run(doors)
