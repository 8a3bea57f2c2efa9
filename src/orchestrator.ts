import { realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { ChosenModel } from './choose-model.ts'
import { chooseModel, NO_MODEL } from './choose-model.ts'
import type { AgentType } from './core/agent-type.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import { CadreError, messageOf } from './core/errors.ts'
import type { CadreEvent } from './core/events.ts'
import type { EventBody } from './core/events.ts'
import { stableJson } from './core/json.ts'
import type { JsonObject } from './core/json.ts'
import type { Narrowed } from './core/narrow.ts'
import { narrow, noToolLeft, rootGrant } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import { titleOf } from './core/title.ts'
import { loadTypes } from './definitions/registry.ts'
import type { TypeListing, TypeRegistry } from './definitions/registry.ts'
import type { Services } from './delegate.ts'
import { journalFile, openJournal } from './journal/journal.ts'
import type { Journal } from './journal/journal.ts'
import { createModels } from './models/models.ts'
import type { Models } from './models/models.ts'
import { createPrograms } from './programs/programs.ts'
import { scriptModel } from './programs/script-model.ts'
import { systemPrompt } from './prompt.ts'
import { narrowRoot, runRoot } from './root-run.ts'
import { onMainThread } from './run.ts'
import { liveSettings } from './settings/live.ts'
import type { Settings } from './settings/settings.ts'
import { userFolder } from './settings/user-folder.ts'
import { createCrew } from './supervisor.ts'
import type { Crew } from './supervisor.ts'
import { linesOf, sweepDoors } from './sweep-run.ts'
import type { SweepDoors, SweepOptions } from './sweep/contract.ts'
import { sweep } from './sweep/sweep.ts'
import type { SweepSummary } from './sweep/sweep.ts'
import { createThreads } from './threads/runner.ts'
import type { Runner } from './threads/runner.ts'
import { agent as agentTool } from './tools/agent.ts'
import { blame as blameTool } from './tools/blame.ts'
import { glob } from './tools/glob.ts'
import { grep } from './tools/grep.ts'
import { ls } from './tools/ls.ts'
import { read } from './tools/read.ts'
import { createToolbox } from './tools/toolbox.ts'
import { VERSION } from './version.ts'
import { blame } from '../worktrees/blame.ts'
import { mainCheckout, openGit, topLevel } from '../worktrees/git.ts'

/** What a host application decides. Everything has a default that is right for a command line. */
export type OrchestratorOptions = {
  /** Where the user stands; default the process's folder. */
  readonly cwd?: string
  /** The project root; default git's top level, else `cwd` (SCO-02). */
  readonly root?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Settings in code, above environment and files (SET-01). */
  readonly settings?: JsonObject
  /** Agent types in code (TYP-18). */
  readonly agents?: JsonObject
  /** Trusts the root without any file saying so (SCO-07). */
  readonly trusted?: boolean
  /** Whether agent folders are watched and reloaded (SCO-09); default true. */
  readonly watch?: boolean
  /** Where agents run; default a pool of warm threads on this machine, which `close` ends. */
  readonly runner?: Runner
  readonly onEvent?: (event: CadreEvent) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
}

export type RunOptions = {
  readonly prompt: string
  /** The agent type to run as the main agent; default none: a plain lead. */
  readonly agent?: string
  readonly model?: string
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  readonly outputSchema?: JsonObject
  readonly signal?: AbortSignal
}

export type SweepRequest = Omit<SweepOptions, 'parallel' | 'signal'> & {
  readonly agent?: string
  readonly model?: string
  /** Default: cores for programs, 8 for language models (CMD-05). */
  readonly parallel?: number
  readonly signal?: AbortSignal
  readonly stdin?: () => AsyncIterable<string>
  readonly onProgress?: SweepDoors['onProgress']
}

/** What a type would get here, were it started by the root run (GRA-12). */
export type Explanation = {
  readonly type: AgentType
  readonly narrowed: Narrowed
  /** Null: a program, or no model is set (see `modelNotes`). */
  readonly model: string | null
  readonly modelNotes: readonly string[]
  /** Bytes of the first request that every delegation pays: system prompt and tool schemas. */
  readonly systemBytes: number
  readonly toolBytes: number
}

export type Orchestrator = {
  readonly root: string
  readonly home: string
  readonly settings: Settings
  readonly trusted: boolean
  readonly types: TypeRegistry
  readonly models: Models
  readonly journal: Journal
  /** Runs a prompt to its end. Rejects with a CadreError only for what the caller got wrong (model, type, settings); all else is a result. */
  run(options: RunOptions): Promise<AgentResult & { readonly session: string }>
  sweep(request: SweepRequest): Promise<SweepSummary & { readonly session: string }>
  listTypes(): TypeListing
  explain(name: string): Explanation
  /** Stops what runs (`killed`, by `user`), waits for its end to be journaled, and frees threads, processes and files. */
  close(): Promise<void>
}

/** Agents of a sweep that wait for a model, not for a core. */
const MODEL_PARALLEL = 8

/**
 * The composition root: the only place that knows every room. Threads, programs and models cost nothing until the first run needs them.
 * Rejects with CadreError SETTINGS or JOURNAL for a place it cannot work in.
 */
export async function createOrchestrator(options: OrchestratorOptions = {}): Promise<Orchestrator> {
  const env = options.env ?? process.env
  const cwd = realpathSync(options.cwd ?? process.cwd())
  const root = realpathSync(options.root ?? topLevel(cwd) ?? cwd)
  const { home, userHome } = userFolder(env)
  const crews = new Set<Crew>()
  const running = new Set<Promise<unknown>>()
  const sweeps = new Set<AbortController>()
  const noticed: Diagnostic[] = []

  const tell = (event: EventBody) => {
    for (const crew of crews) crew.record(crew.root, [event]).catch(() => {}) // the run's own next append reports a broken journal
  }
  const onDiagnostic = (diagnostic: Diagnostic) => {
    noticed.push(diagnostic)
    options.onDiagnostic?.(diagnostic)
    tell({ type: 'diagnostic', data: diagnostic })
  }

  const live = liveSettings({
    root,
    home,
    env,
    ...(options.settings && { code: options.settings }),
    ...(options.trusted !== undefined && { trustedInCode: options.trusted }),
    onDiagnostic,
  })
  const { settings, trusted } = live.current()

  const opened: Models[] = []
  const makeModels = (from: Settings): Models => {
    const models = createModels({
      providers: from.providers,
      env,
      aliases: from.modelAliases,
      prices: Object.fromEntries(Object.entries(from.prices).map(([model, price]) =>
        [model, { ...price, cacheRead: price.cacheRead ?? price.input, cacheWrite: price.cacheWrite ?? price.input }])),
      maxTries: from.models.maxTries,
      silenceSeconds: from.models.silence,
      onPause({ agent, ...data }) {
        for (const crew of crews) {
          const asking = crew.list().find(({ subject }) => subject.agent === agent)
          if (asking) crew.record(asking.subject, [{ type: 'rate.paused', data }]).catch(() => {}) // as in `tell`
        }
      },
    })
    opened.push(models)
    return models
  }
  /** The models of the settings as they are now; calls under way keep theirs. */
  const currentModels = remade(() => live.current().settings, ({ providers, modelAliases, prices, models }) => stableJson({ providers, modelAliases, prices, models }), makeModels)
  const main = mainCheckout(root) ?? root
  const journal = openJournal({ file: journalFile({ folder: settings.journal.path, root: main }), sync: settings.journal.sync, redact: currentModels().keys() })
  journal.prune(settings.journal.keepDays)
  const types = await loadTypes({
    root,
    cwd,
    mainCheckout: main === root ? null : main,
    home,
    userHome,
    builtInFolder: new URL('../agents/', import.meta.url),
    claudeFolders: settings.claudeAgents,
    plugins: settings.plugins,
    code: options.agents ?? null,
    trusted,
    onDiagnostic,
    onReload: (data) => tell({ type: 'types.reloaded', data }),
  })
  if (options.watch ?? true) await types.watch()

  const toolbox = createToolbox([read, ls, glob, grep, blameTool, agentTool])
  const threads = options.runner ?? createThreads()
  const programs = createPrograms({ heapMb: settings.programs.heapMb, sliceSeconds: settings.programs.slice })
  const git = openGit(root)
  const resolve = (written: string, parent: string | null) => currentModels().resolve(written, parent)
  const newGrant = () => {
    const { maxDepth, maxTurns, timeout } = live.current().settings.limits
    return rootGrant({ tools: toolbox.facts, root, mode: 'default', maxDepth, maxTurns, timeout })
  }

  const choose: Services['chooseModel'] = (choice) => {
    const { subagentModel, model, modelAliases, allowedModels } = live.current().settings
    return chooseModel(choice, { resolve, subagentModel, rootModel: model, aliases: Object.keys(modelAliases), allowedModels })
  }

  /** MOD-04: `--model`, the main agent's own file, then CADRE_MODEL and settings. */
  async function rootModel(flag: string | undefined, type: AgentType | null): Promise<ChosenModel> {
    const choice = { type: flag ?? type?.model ?? null, call: null, parent: live.current().settings.model }
    try {
      return chooseModel(choice, { resolve, subagentModel: null, rootModel: null, aliases: [], allowedModels: [] })
    } catch (error) {
      if (error instanceof CadreError && error.code === 'SETTINGS' && flag === undefined) throw await noModel(currentModels())
      throw error
    }
  }

  const servicesOf = (crew: Crew): Services => ({
    crew,
    toolbox,
    types: {
      require: (written) => types.require(written),
      startable: () => types.list().types.filter(({ startable }) => startable).map(({ type }) => type),
      segment: (startable) => types.segment(startable),
    },
    chooseModel: choose,
    openModel: ({ id }) => currentModels().open(id),
    cost: (model, usage) => currentModels().cost(model, usage) ?? 0,
    scriptModel: ({ name, path, program }, { tools, seed, prompt }) => {
      if (!program) throw new CadreError('INVARIANT', `${name} has no program`)
      return scriptModel({ programs, type: { name, path, program }, tools, seed, prompt })
    },
    blame: async (path, lines, signal) => (await blame(git, path, lines, signal)).map((line) => ({ ...line })),
    inThread: (job) => threads.run(job),
    limits: () => live.current().settings.limits,
  })

  /** Opens a session around `work`, and ends it in the journal however `work` ends. */
  async function inSession<T>(kind: 'run' | 'sweep', title: string, maxRunning: number, signal: AbortSignal | undefined, work: (crew: Crew) => Promise<{ readonly value: T; readonly status: string }>): Promise<T & { readonly session: string }> {
    const crew = createCrew({ journal, maxRunning, maxLenders: Math.max(1, Math.floor(threads.cap / 2)), onEvent: options.onEvent ?? (() => {}) })
    const stopAll = () => {
      for (const agent of crew.list()) crew.stop(agent, { ending: { status: 'killed', cause: 'user' }, reason: 'The user stopped it.' })
    }
    crews.add(crew)
    signal?.addEventListener('abort', stopAll, { once: true })
    await crew.record(crew.root, [
      { type: 'session.started', data: { kind, title, cwd, root, version: VERSION } },
      ...noticed.map((data): EventBody => ({ type: 'diagnostic', data })),
    ])
    let status = 'failed'
    try {
      const done = await work(crew)
      status = done.status
      return { ...done.value, session: crew.session }
    } finally {
      signal?.removeEventListener('abort', stopAll)
      await crew.record(crew.root, [{ type: 'session.ended', data: { status } }])
      crews.delete(crew)
    }
  }

  const track = async <T>(work: Promise<T>): Promise<T> => {
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }

  return {
    root,
    home,
    get settings() {
      return live.current().settings
    },
    trusted,
    types,
    get models() {
      return currentModels()
    },
    journal,

    async run(request) {
      const type = request.agent === undefined ? null : types.require(request.agent)
      const model = type?.program ? null : await rootModel(request.model, type)
      const grant = newGrant()
      narrowRoot(grant, { ...request, type })
      return track(inSession('run', titleOf(request.prompt), live.current().settings.limits.maxRunning, request.signal, async (crew) => {
        const { result } = await runRoot(servicesOf(crew), grant, onMainThread((job) => threads.calls(job)), { ...request, type, model })
        return { value: result, status: result.status }
      }))
    },

    async sweep({ agent, model: flag, parallel, signal, stdin, onProgress, ...request }) {
      const type = types.require(agent)
      const model = type.program ? null : await rootModel(flag, type)
      const reducerType = types.require('general')
      const reducer = request.reduce ? { type: reducerType, model: await rootModel(flag, reducerType) } : null
      const grant = newGrant()
      if (narrow(grant, type).grant.tools.length === 0) throw new CadreError('SETTINGS', noToolLeft(type, grant))
      const width = parallel ?? (type.program ? availableParallelism() : MODEL_PARALLEL)
      threads.warm(Math.min(width, availableParallelism()))
      if (type.program) programs.warm(Math.min(width, availableParallelism()))
      const stopped = new AbortController()
      const stop = AbortSignal.any([stopped.signal, ...(signal ? [signal] : [])])
      sweeps.add(stopped)
      try {
        return await track(inSession('sweep', `${type.name} over ${request.over}`, Math.max(width, live.current().settings.limits.maxRunning), undefined, async (crew) => {
          const doors = sweepDoors(servicesOf(crew), {
            grant,
            cwd,
            type,
            model,
            reducer,
            findByKey: (key) => journal.findByKey(key),
            stdin: stdin ?? (() => linesOf(process.stdin)),
            onProgress: onProgress ?? (() => {}),
          })
          const summary = await sweep({ ...request, parallel: width, signal: stop }, doors)
          return { value: summary, status: summary.status }
        }))
      } finally {
        sweeps.delete(stopped)
      }
    },

    listTypes: () => types.list(),

    explain(name) {
      const type = types.require(name)
      const narrowed = narrow(newGrant(), type)
      const startable = narrowed.grant.tools.some((tool) => tool.name === 'agent') ? types.list().types.filter((listed) => listed.startable).map((listed) => listed.type) : []
      const system = type.program ? '' : systemPrompt({ type, isRoot: false, depthLeft: narrowed.grant.depth, startable: types.segment(startable) })
      const schemas = type.program ? [] : toolbox.schemas(narrowed.grant)
      let chosen: ChosenModel | null = null
      let modelNotes: readonly string[] = []
      try {
        if (!type.program) chosen = choose({ call: null, type: type.model, parent: live.current().settings.model })
        modelNotes = chosen?.notes ?? []
      } catch (error) {
        modelNotes = [messageOf(error)]
      }
      return {
        type,
        narrowed,
        model: type.program ? 'script' : (chosen?.id ?? null),
        modelNotes,
        systemBytes: Buffer.byteLength(system),
        toolBytes: type.program ? 0 : Buffer.byteLength(JSON.stringify(schemas)),
      }
    },

    async close() {
      for (const sweeping of sweeps) sweeping.abort(new CadreError('STOPPED', 'The session was closed'))
      for (const crew of crews) for (const agent of crew.list()) crew.stop(agent, { ending: { status: 'killed', cause: 'user' }, reason: 'The session was closed.' })
      await Promise.allSettled(running)
      await Promise.all([types.close(), threads.close(), programs.close()])
      for (const models of opened) models.close()
      await journal.close()
    },
  }
}

/** A value made from another one, and made anew only when what it depends on has changed. */
function remade<From, To>(source: () => From, keyOf: (from: From) => string, make: (from: From) => To): () => To {
  let from = source()
  let key = keyOf(from)
  let made = make(from)
  return () => {
    const now = source()
    if (now === from) return made
    from = now
    const next = keyOf(now)
    if (next !== key) {
      key = next
      made = make(now)
    }
    return made
  }
}

/** MOD-09: the error of MOD-04, naming a model that is really there. */
async function noModel(models: Models): Promise<CadreError> {
  const found = (await models.list()).flatMap(({ models: listed }) => listed)[0]?.id
  const hint = found ? '' : ' No provider key was found in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) and no local server answers.'
  return new CadreError('SETTINGS', NO_MODEL(found ?? '<provider>/<model>') + hint)
}
