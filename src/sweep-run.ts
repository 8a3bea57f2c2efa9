import { relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { ChosenModel } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { CadreEvent } from './core/events.ts'
import type { Grant } from './core/grant.ts'
import { narrow } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import { STOPPED_BY_USER } from './core/status.ts'
import { startAgent } from './delegate.ts'
import { readyAgent } from './ready.ts'
import type { Services } from './services.ts'
import type { SweepAgents, SweepInputs, SweepRun, SweepWork } from './sweep/contract.ts'
import { readRegularFile } from './sweep/read-regular-file.ts'
import { hashFile, readFunctions } from './tools/reading/index.ts'
import type { Worktree } from '../worktrees/worktree.ts'

/** Paths asked for at a time: as many as the read tool gives. */
const PAGE_FILES = 100_000

type InputOptions = {
  readonly grant: Grant
  /** Where the user stands: patterns, `--out` and files of rows are relative to it, as in any shell command. */
  readonly cwd: string
  readonly stdin: () => AsyncIterable<string>
}

type AgentOptions = {
  readonly grant: Grant
  readonly type: AgentType
  readonly model: ChosenModel | null
  readonly reducer: { readonly type: AgentType; readonly model: ChosenModel } | null
  findByKey(key: string): CadreEvent | undefined
  readonly onProgress: SweepAgents['onProgress']
  readonly edits?: SweepEdits
}

/** A sweep whose agents change things, each in a worktree of its own. */
export type SweepEdits = {
  /** Whether an earlier run of an item need not be made again. */
  isDone(result: AgentResult): boolean
  onEnd(item: string, result: AgentResult): void
}

/** Where a sweep finds its items: before there is a session, so that what the user got wrong leaves none behind. */
export const sweepInputs = ({ grant, cwd, stdin }: InputOptions): SweepInputs => ({
  root: grant.root,
  cwd,
  listFiles: (pattern) => filesMatching(pattern, grant, cwd),
  readFile: (path) => readRegularFile(resolve(cwd, path)),
  stdin,
})

/**
 * Every file that matches a pattern, which is relative to `cwd`; their paths are relative to the root, as all paths in results and reports. Page
 * by page, so that no number of files is too many. Rejects with USAGE for a pattern that leaves the root.
 */
export async function filesMatching(pattern: string, { root, paths }: Pick<Grant, 'root' | 'paths'>, cwd: string, page = PAGE_FILES): Promise<readonly string[]> {
  const context = { root, paths, form: 'data', stopped: () => false } as const
  const files: string[] = []
  for (let more = true; more;) {
    const input = { pattern, path: within(root, cwd), limit: page, offset: files.length }
    const answer = await Promise.resolve(readFunctions.glob(input, context)).catch((cause: unknown) => {
      throw new CadreError('USAGE', `--over ${pattern} cannot be used: ${messageOf(cause)}.`, { cause })
    })
    // Our own read tool's data form, see its docstring.
    const found = JSON.parse(answer.text) as { readonly paths: readonly string[]; readonly more: number }
    for (const path of found.paths) files.push(path)
    more = found.more > 0 && found.paths.length > 0
  }
  return files
}

/** Who works on a sweep's items, bound to one session: they are children of the session's root. */
export function sweepAgents(services: Services, options: AgentOptions): SweepAgents {
  const { grant, type, model, reducer, edits } = options
  const { crew } = services
  // Once: the prompt prefix of all items is the same, whatever the clock says (MOD-07).
  const environment = services.environment.short()

  async function start(of: AgentType, on: ChosenModel | null, work: Pick<SweepWork, 'prompt' | 'title' | 'schema'> & { readonly key?: string; readonly signal?: AbortSignal; readonly worktree?: Worktree }): Promise<SweepRun> {
    work.signal?.throwIfAborted()
    const subject = crew.newSubject(crew.root)
    const onAbort = () => {
      const agent = crew.find(subject.agent)
      if (agent) crew.stop(agent, STOPPED_BY_USER)
    }
    work.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const ready = readyAgent(services, {
        subject,
        type: of,
        narrowed: narrow(grant, of),
        title: work.title,
        prompt: work.prompt,
        environment,
        model: on,
        ...(work.schema && { input: { outputSchema: work.schema, notes: [] } }),
        callId: null,
        ...(work.key !== undefined && { key: work.key }),
        ...(work.worktree && { worktree: work.worktree }),
      })
      return await startAgent(services, ready).ended
    } finally {
      work.signal?.removeEventListener('abort', onAbort)
    }
  }

  /** An item whose agent changes things. */
  async function edit(work: SweepWork, { onEnd }: SweepEdits): Promise<SweepRun> {
    work.signal.throwIfAborted()
    const worktree = await services.isolation.open({ name: work.title, from: grant.root, signal: work.signal })
    if ('none' in worktree) throw new CadreError('USAGE', `Nothing can be edited here: each agent works in a git worktree of its own, and there is none (${worktree.note}). Make a repository with a first commit.`)
    const run = await start(type, model, { ...work, worktree })
    onEnd(work.title, run.result)
    return run
  }

  return {
    typeHash: type.hash,
    agent: type.name,
    start: (work) => (edits ? edit(work, edits) : start(type, model, work)),
    finished(key) {
      const event = options.findByKey(key)
      if (event?.type !== 'delegation.ended') return undefined
      const { result, reads = null } = event.data
      return edits && !edits.isDone(result) ? undefined : { result, reads }
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

