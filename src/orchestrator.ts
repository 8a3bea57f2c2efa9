import { realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import type { Orchestrator, OrchestratorOptions } from './api.ts'
import type { AgentType } from './core/agent-type.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import { CadreError } from './core/errors.ts'
import { narrow, noToolLeft, rootGrant } from './core/narrow.ts'
import { titleOf } from './core/title.ts'
import { loadTypes } from './definitions/registry.ts'
import type { Services } from './delegate.ts'
import { explain } from './explain.ts'
import { journalFile, openJournal } from './journal/journal.ts'
import { openProfile } from './journal/profile.ts'
import { liveModels } from './live-models.ts'
import { createPrograms } from './programs/programs.ts'
import { scriptModel } from './programs/script-model.ts'
import { openProjectTexts } from './prompts/project-texts.ts'
import { narrowRoot, runRoot } from './root-run.ts'
import { onMainThread } from './run.ts'
import { createSessions } from './sessions.ts'
import { liveSettings } from './settings/live.ts'
import { userFolder } from './settings/user-folder.ts'
import type { Crew } from './supervisor.ts'
import { linesOf, sweepAgents, sweepInputs } from './sweep-run.ts'
import { prepareSweep } from './sweep/sweep.ts'
import { createThreads } from './threads/runner.ts'
import { agent as agentTool } from './tools/agent.ts'
import { blame as blameTool } from './tools/blame.ts'
import { glob } from './tools/glob.ts'
import { grep } from './tools/grep.ts'
import { ls } from './tools/ls.ts'
import { hashFile } from './tools/reading/index.ts'
import { read } from './tools/read.ts'
import { createToolbox } from './tools/toolbox.ts'
import { blame } from '../worktrees/blame.ts'
import { headFile, mainCheckout, openGit, topLevel } from '../worktrees/git.ts'

/** Agents of a sweep that wait for a model, not for a core. */
const MODEL_PARALLEL = 8

/**
 * The composition root: the only place that knows every room. Threads, programs and models cost nothing until the first run needs them.
 * Rejects with CadreError SETTINGS or JOURNAL for a place it cannot work in.
 */
export async function createOrchestrator(options: OrchestratorOptions = {}): Promise<Orchestrator> {
  const env = options.env ?? process.env
  const cwd = realFolder(options.cwd ?? process.cwd())
  const root = realFolder(options.root ?? topLevel(cwd) ?? cwd)
  const { home, userHome } = userFolder(env)
  const closing = new AbortController()
  const onDiagnostic = (diagnostic: Diagnostic) => {
    sessions.notice(diagnostic)
    options.onDiagnostic?.(diagnostic)
  }

  const profile = env['CADRE_PROFILE'] ? openProfile(resolve(cwd, env['CADRE_PROFILE'])) : null
  const threads = options.runner ?? createThreads()
  const sessions = createSessions({
    journal: () => journal,
    cwd,
    root,
    maxLenders: () => Math.max(1, Math.floor(threads.cap / 2)),
    onEvent(event) {
      if (env['CADRE_TRACE'] === '1' && event.seq > 0) process.stderr.write(`${JSON.stringify(event)}\n`)
      profile?.saw(event)
      options.onEvent?.(event)
    },
  })
  const live = liveSettings({
    root,
    home,
    env,
    ...(options.settings && { code: options.settings }),
    ...(options.trusted !== undefined && { trustedInCode: options.trusted }),
    onDiagnostic,
  })
  const { settings, trusted } = live.current()
  const limits = () => live.current().settings.limits
  const models = liveModels(() => live.current().settings, {
    env,
    onPause: ({ agent, ...data }) => sessions.tellOf(agent, { type: 'rate.paused', data }),
    onLostUsage: ({ agent, usage }) => sessions.addLostUsage(agent, usage),
  })
  const main = mainCheckout(root) ?? root
  const journal = openJournal({
    file: journalFile({ folder: settings.journal.path, root: main }),
    sync: settings.journal.sync,
    redact: () => models.current().keys(),
  })
  journal.prune(settings.journal.keepDays)
  const types = await loadTypes({
    root,
    cwd,
    mainCheckout: main === root ? null : main,
    home,
    userHome,
    claudeFolders: settings.claudeAgents,
    plugins: settings.plugins,
    code: options.agents ?? null,
    trusted,
    onDiagnostic,
    onReload: (data) => sessions.tell({ type: 'types.reloaded', data }),
  })
  if (options.watch ?? true) await types.watch()

  const toolbox = createToolbox([read, ls, glob, grep, blameTool, agentTool])
  const programs = createPrograms({ heapMb: settings.programs.heapMb, sliceSeconds: settings.programs.slice })
  const git = openGit(root)
  const project = openProjectTexts({
    root,
    cwd,
    home,
    userHome,
    claudeFolders: () => live.current().settings.claudeAgents,
    instructionsOn: () => live.current().settings.instructions,
    onDiagnostic,
  })
  const newGrant = () => rootGrant({ tools: toolbox.facts, root, mode: 'default', ...limits() })
  const startable = () => types.list().types.filter((listed) => listed.startable).map(({ type }) => type)
  const segment = (of: readonly AgentType[]) => types.segment(of)

  const servicesOf = (crew: Crew): Services => ({
    crew,
    toolbox,
    types: { require: (written) => types.require(written), startable, segment },
    chooseModel: (choice) => models.choose(choice),
    openModel: ({ id }) => models.current().open(id),
    cost(used, asked, usage) {
      const { cacheTtl } = live.current().settings.models
      return models.current().cost(used, usage, cacheTtl) ?? models.current().cost(asked, usage, cacheTtl) ?? 0
    },
    scriptModel: ({ name, path }, program, run) => scriptModel({ programs, type: { name, path, program }, ...run }),
    async blame(path, lines, signal) {
      const head = headFile(root)
      const hash = head === null ? null : hashFile(root, head)
      const found = await blame(git, path, lines, signal)
      return { text: JSON.stringify(found), reads: head !== null && hash !== null ? [{ path: relative(root, head), hash }] : [] }
    },
    inThread: (job) => threads.run(job),
    limits: () => ({ ...limits(), cacheTtl: live.current().settings.models.cacheTtl }),
  })

  async function endJournal(): Promise<void> {
    try {
      profile?.write(journal)
    } finally {
      await journal.close()
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
      return models.current()
    },
    journal,

    async run({ agent, model: flag, signal, ...request }) {
      const type = agent === undefined ? null : types.require(agent)
      const model = type?.program ? null : await models.chooseRoot(flag, type?.model ?? null)
      const narrowed = narrowRoot(newGrant(), { ...request, type })
      const session = { kind: 'run', title: titleOf(request.prompt), maxRunning: limits().maxRunning, ...(signal && { signal }) } as const
      return sessions.open(session, async (crew) => {
        threads.warm(1) // starts while the model is asked for the first time
        const place = onMainThread((job) => threads.calls(job))
        const { result } = await runRoot(servicesOf(crew), narrowed, place, { ...request, type, model })
        return { value: result, status: result.status }
      })
    },

    async sweep({ agent, model: flag, parallel, signal, stdin, onProgress, ...request }) {
      const type = types.require(agent)
      const model = type.program ? null : await models.chooseRoot(flag, type.model)
      const reducer = request.reduce ? { type: types.require('general'), model: await models.chooseRoot(flag, null) } : null
      const grant = newGrant()
      if (narrow(grant, type).grant.tools.length === 0) throw new CadreError('SETTINGS', noToolLeft(type, grant))
      const cores = availableParallelism()
      const width = parallel ?? (type.program ? cores : MODEL_PARALLEL)
      const stop = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
      const inputs = sweepInputs({ grant, cwd, stdin: stdin ?? (() => linesOf(process.stdin)) })
      const prepared = await prepareSweep({ ...request, prompt: request.prompt ?? null, batch: request.batch ?? 1, parallel: width, signal: stop }, inputs)
      threads.warm(Math.min(width, cores))
      if (type.program) programs.warm(Math.min(width, cores))
      const session = { kind: 'sweep', title: `${type.name} over ${request.over}`, maxRunning: Math.max(width, limits().maxRunning) } as const
      return sessions.open(session, async (crew) => {
        const summary = await prepared.run(sweepAgents(servicesOf(crew), {
          grant,
          type,
          model,
          reducer,
          findByKey: (key) => journal.findByKey(key),
          onProgress: (progress) => onProgress?.(progress),
        }))
        return { value: summary, status: summary.status }
      })
    },

    listTypes: () => types.list(),
    // Also the verifier, which nobody may start by name.
    explain: (name) =>
      explain(types.find(name) ?? types.require(name), newGrant(), { toolbox, startable: startable(), segment, project, choose: (choice) => models.choose(choice) }),

    async close() {
      closing.abort(new CadreError('STOPPED', 'The session was closed'))
      await sessions.close()
      models.close()
      // Each is closed whatever becomes of the others; the first fault is told.
      const closed = await Promise.allSettled([types.close(), threads.close(), programs.close(), endJournal()])
      const fault = closed.find((end) => end.status === 'rejected')
      if (fault) throw fault.reason
    },
  }
}

function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    throw new CadreError('NOT_FOUND', `There is no folder ${path} to work in.`, { cause })
  }
}
