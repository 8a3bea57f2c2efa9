import { realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { agentAsTool } from './agent-as-tool.ts'
import { agentShell } from './agent-shell.ts'
import type { ChangeOptions, DelegationInfo, EditItem, Orchestrator, OrchestratorOptions, SweepRequest } from './api.ts'
import type { AgentType, PermissionMode } from './core/agent-type.ts'
import type { Diagnostic } from './core/diagnostic.ts'
import { CadreError } from './core/errors.ts'
import type { EventSubject } from './core/events.ts'
import type { Grant } from './core/grant.ts'
import { narrow, noToolLeft, rootGrant } from './core/narrow.ts'
import type { AgentResult } from './core/result.ts'
import { STOPPED_BY_USER } from './core/status.ts'
import { titleOf } from './core/title.ts'
import { loadTypes } from './definitions/registry.ts'
import type { DeliveryOptions, IdlePolicy } from './delivery.ts'
import { explain } from './explain.ts'
import { openIsolation } from './isolation.ts'
import { journalFile, openJournal } from './journal/journal.ts'
import { openProfile } from './journal/profile.ts'
import { liveModels } from './live-models.ts'
import { livePermissions } from './live-permissions.ts'
import { isContextOverflow } from './models/context-overflow.ts'
import { contextWindow } from './models/context-window.ts'
import { createPrograms } from './programs/programs.ts'
import { runCode } from './programs/run-code.ts'
import { scriptModel } from './programs/script-model.ts'
import { openEnvironment } from './prompts/environment.ts'
import { openProjectTexts } from './prompts/project-texts.ts'
import { resumeSession, sessionToResume } from './resume.ts'
import { narrowRoot, runRoot } from './root-run.ts'
import { onMainThread } from './run.ts'
import { createGates } from './schedule/gate.ts'
import { createSeenTexts } from './seen-files.ts'
import type { Services } from './services.ts'
import { createSessions } from './sessions.ts'
import { liveSettings } from './settings/live.ts'
import { userFolder } from './settings/user-folder.ts'
import { probeShell } from './shell/probe.ts'
import type { Probe } from './shell/probe.ts'
import { hears } from './supervisor.ts'
import type { Crew } from './supervisor.ts'
import { linesOf, sweepAgents, sweepInputs } from './sweep-run.ts'
import type { SweepEdits } from './sweep-run.ts'
import type { SweepSummary } from './sweep/summary.ts'
import { prepareSweep } from './sweep/sweep.ts'
import { createTeller } from './teller.ts'
import { createThreads } from './threads/runner.ts'
import { openTodoFile } from './todo-file.ts'
import { agentCheck } from './tools/agent-check.ts'
import { agentSend } from './tools/agent-send.ts'
import { agentStop } from './tools/agent-stop.ts'
import { agentWait } from './tools/agent-wait.ts'
import { agent as agentTool } from './tools/agent.ts'
import { blame as blameTool } from './tools/blame.ts'
import { glob } from './tools/glob.ts'
import { grep } from './tools/grep.ts'
import { ls } from './tools/ls.ts'
import { read } from './tools/read.ts'
import { hashFile } from './tools/reading/index.ts'
import { memoryFolder } from './tools/remembering/memory-folder.ts'
import { runCode as runCodeTool } from './tools/run-code.ts'
import { createToolbox } from './tools/toolbox.ts'
import { publicWeb } from './tools/web-fetch/public-web.ts'
import { WRITING_TOOLS } from './tools/writing-tools.ts'
import { runCommand } from './verify/command.ts'
import { VERSION } from './version.ts'
import { blame } from '../worktrees/blame.ts'
import { branchOf, headFile, mainCheckout, openGit, topLevel } from '../worktrees/git.ts'
import { workingState } from '../worktrees/status.ts'

/**
 * When agent folders begin to be watched: not before the first model call is on its way, and for the shortest runs never. What changed until then is
 * found when the watch begins, so an edit still counts within a second (SCO-09).
 */
const WATCH_AFTER_MS = 300

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
  const tellHost = createTeller((diagnostic) => options.onDiagnostic?.(diagnostic))
  const onDiagnostic = (diagnostic: Diagnostic) => {
    sessions.notice(diagnostic)
    tellHost(() => options.onDiagnostic?.(diagnostic))
  }

  const profile = env['CADRE_PROFILE'] ? openProfile(resolve(cwd, env['CADRE_PROFILE'])) : null
  // Loaded by those who ask for it only.
  const telemetry = env['CADRE_OTEL'] === '1' ? (await import('./telemetry/telemetry.ts')).openTelemetry({ version: VERSION, onDiagnostic }) : null
  const threads = options.runner ?? createThreads()
  /** Agents that may delegate keep their thread while they are blocked: half of all are left to the others. */
  const maxLenders = Math.max(1, Math.floor(threads.cap / 2))
  const sessions = createSessions({
    journal: () => journal,
    cwd,
    root,
    maxLenders: () => maxLenders,
    resultChars: () => limits().resultChars,
    onEvent(event) {
      if (env['CADRE_TRACE'] === '1' && event.seq > 0) process.stderr.write(`${JSON.stringify(event)}\n`)
      profile?.saw(event)
      telemetry?.saw(event)
      todo.saw(event)
      tellHost(() => options.onEvent?.(event))
      if (event.depth === 0) return
      if (event.type === 'delegation.started') tellHost(() => options.onDelegationStart?.(startOf(event, event.data)))
      if (event.type === 'delegation.ended') tellHost(() => options.onDelegationComplete?.({ ...startOf(event, event.data.result), ...event.data.result }))
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
    onLostUsage: (lost) => sessions.addLostUsage(lost),
  })
  const main = mainCheckout(root) ?? root
  const journal = openJournal({
    file: journalFile({ folder: settings.journal.path, root: main }),
    sync: settings.journal.sync,
    redact: () => models.current().keys(),
  })
  journal.prune(settings.journal.keepDays)
  // What can confine commands is looked for while the types are read; null: nothing is to.
  const looked = settings.sandbox === 'off' ? null : probeShell()
  const todo = openTodoFile({ root, journal, onDiagnostic })
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
  const watchSoon = (options.watch ?? true) ? setTimeout(() => void types.watch(), WATCH_AFTER_MS).unref() : undefined

  const toolbox = createToolbox([read, ls, glob, grep, blameTool, ...WRITING_TOOLS, agentTool, agentSend, agentStop, agentWait, agentCheck, runCodeTool])
  const programs = createPrograms({ heapMb: settings.programs.heapMb, sliceSeconds: settings.programs.slice })
  const gate = createGates()
  const isolation = openIsolation({
    root: main,
    trusted,
    settings: () => live.current().settings.worktrees,
    verify() {
      const { command } = live.current().settings.verify
      return command === null ? null : async (tree, signal) => {
        const { ok, ending, output } = await runCommand(command, { root: tree, env, signal })
        return { ok, log: `${output}\n[${ending}]` }
      }
    },
    gate: gate(main),
    mayGoOn: () => journal.sessions().some(({ status }) => status === 'interrupted'),
    onWarning: (message) => onDiagnostic({ path: main, line: 1, severity: 'warning', message, remedy: '' }),
  })
  const seenTexts = createSeenTexts()
  const sandbox: Probe | null = await looked
  const permissions = livePermissions(() => live.current().settings, { root, home: userHome, onDiagnostic, approver: options.onApproval ?? null })
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
  const environment = openEnvironment({
    root,
    cwd,
    platform: process.platform,
    git: topLevel(root) === null ? null : { state: () => workingState(git, closing.signal), branch: () => branchOf(root) },
  })
  const delegation = options.delegation ?? {}
  const facts = delegation === false ? toolbox.facts.filter(({ effect }) => effect !== 'delegate') : toolbox.facts
  const confines = () => sandbox !== null && sandbox.kind !== null
  /** SHL-04: without a sandbox that is required there is no bash. */
  const toolFacts = () => (live.current().settings.sandbox === 'require' && !confines() ? facts.filter(({ name }) => name !== 'bash') : facts)
  // Each layer that delegates keeps a thread for itself (KIN-05), so there can be no more of them than places for such agents.
  const deepest = maxLenders + 1
  const newGrant = (of?: boolean | readonly string[], mode: PermissionMode = live.current().settings.permissions.mode) =>
    rootGrant({ tools: toolFacts(), confinesShell: confines(), root, mode, ...(of !== undefined && { types: of }), ...limits(), maxDepth: Math.min(limits().maxDepth, deepest) })
  if (settings.limits.maxDepth > deepest) {
    onDiagnostic({ path: 'limits.maxDepth', line: 1, severity: 'warning', message: `${settings.limits.maxDepth} layers need more threads than the ${threads.cap} there are`, remedy: `${deepest} count` })
  }
  const slotLimits = () => {
    const { maxRunning, maxBackground, launchPerSecond } = limits()
    return { running: maxRunning, background: maxBackground, launchPerSecond }
  }
  const deliveryOf = (of: RootDoors) => (depth: number): DeliveryOptions => {
    const { onIdle, maxNudges, coalesce } = live.current().settings.delivery
    const common = { maxNudges, coalesceMs: coalesce * 1000 }
    if (depth > 0) return { ...common, policy: 'wait' }
    return { ...common, policy: of.onIdle ?? onIdle ?? 'wait', onAnswer: (text) => tellHost(() => of.onAnswer?.(text)) }
  }
  const startable = () => types.list().types.filter((listed) => listed.startable).map(({ type }) => type)
  const segment = (of: readonly AgentType[]) => types.segment(of)
  const verifier = () => {
    const type = types.verifier()
    if (!type) throw new CadreError('INVARIANT', 'This installation of Cadre has no agents/verifier.md. Install it again.')
    return type
  }

  const servicesOf = (crew: Crew, of: RootDoors = {}): Services => ({
    crew,
    toolbox,
    journal,
    types: { require: (written) => types.require(written), nameOf: (written) => types.find(written)?.name ?? written, verifier, isFork: (written) => types.isFork(written), startable, segment },
    chooseModel: (choice) => models.choose(choice),
    openModel: (id) => models.current().open(id),
    cost(used, asked, usage) {
      const { cacheTtl } = live.current().settings.models
      return models.current().cost(used, usage, cacheTtl) ?? models.current().cost(asked, usage, cacheTtl) ?? 0
    },
    memoryFolder: (type) => memoryFolder(type, { root: main, home, userHome }),
    contextWindow,
    isContextOverflow,
    scriptModel: (type, program, run) => scriptModel({ programs, type: { ...type, program }, ...run }),
    project,
    environment,
    history: (delegation === false ? undefined : delegation.messages) ?? 'none',
    openShell: (grant) => agentShell(grant, { probe: sandbox, userHome, hidden: [home], env, passed: live.current().settings.shell.env }),
    permissions,
    isolation,
    seenTexts,
    web: publicWeb,
    async blame(path, lines, signal) {
      const head = headFile(root)
      const hash = head === null ? null : hashFile(root, head)
      const found = await blame(git, path, lines, signal)
      return { text: JSON.stringify(found), reads: head !== null && hash !== null ? [{ path: relative(root, head), hash }] : [] }
    },
    inThread: (job) => threads.run(job),
    readCalls: (job) => threads.calls(job),
    runCode: (code) => runCode(programs, code),
    gate,
    limits: () => ({ ...limits(), cacheTtl: live.current().settings.models.cacheTtl, compactAt: live.current().settings.compactAt, bashSeconds: live.current().settings.bash.timeout }),
    notifies: () => live.current().settings.tasks.notify,
    delegationTools: () => live.current().settings.delegation.tools,
    delivery: deliveryOf(of),
    verification: of.changedFiles ? { changedFiles: of.changedFiles, settings: () => live.current().settings.verify, env } : null,
  })
  const onThisThread = onMainThread((job) => threads.calls(job))

  function refuseClosed(): void {
    if (closing.signal.aborted) throw new CadreError('STOPPED', 'This orchestrator is closed. Create a new one.')
  }

  async function sweepOver({ agent, model: flag, parallel, signal, stdin, onProgress, ...request }: SweepRequest, grant: Grant, edits?: SweepEdits): Promise<SweepSummary & { readonly session: string }> {
    refuseClosed()
    const type = types.require(agent ?? (edits ? 'implementer' : undefined))
    const model = type.program ? null : await models.chooseRoot(flag, type.model)
    const reducer = request.reduce ? { type: types.require('general'), model: await models.chooseRoot(flag, null) } : null
    if (narrow(grant, type).grant.tools.length === 0) throw new CadreError('SETTINGS', noToolLeft(type, grant))
    const cores = availableParallelism()
    const width = parallel ?? (type.program ? cores : MODEL_PARALLEL)
    const stop = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
    const inputs = sweepInputs({ grant, cwd, stdin: stdin ?? (() => linesOf(process.stdin)) })
    const prepared = await prepareSweep({ ...request, prompt: request.prompt ?? null, batch: request.batch ?? 1, parallel: width, signal: stop }, inputs)
    threads.warm(Math.min(width, cores))
    if (type.program) programs.warm(Math.min(width, cores))
    const session = { kind: 'sweep', title: `${type.name} over ${request.over}`, limits: { ...slotLimits(), running: Math.max(width, limits().maxRunning) } } as const
    return sessions.open(session, async (crew) => {
      const summary = await prepared.run(sweepAgents(servicesOf(crew), {
        grant,
        type,
        model,
        reducer,
        findByKey: (key) => journal.findByKey(key),
        onProgress: (progress) => tellHost(() => onProgress?.(progress)),
        ...(edits && { edits }),
      }))
      return { value: summary, status: summary.status }
    })
  }

  function found(id: string) {
    const agent = sessions.find(id)
    if (!agent) throw notRunning(id)
    return agent
  }

  async function endJournal(): Promise<void> {
    try {
      todo.close()
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

    async run({ agent, model: flag, signal, types: of, permissionMode, onIdle, onAnswer, changedFiles, ...request }) {
      refuseClosed()
      const type = agent === undefined ? null : types.require(agent)
      const model = type?.program ? null : await models.chooseRoot(flag, type?.model ?? null)
      const narrowed = narrowRoot(newGrant(of, permissionMode), { ...request, type })
      const session = { kind: 'run', title: titleOf(request.prompt), limits: slotLimits(), ...(signal && { signal }) } as const
      return sessions.open(session, async (crew) => {
        threads.warm(1) // starts while the model is asked for the first time
        const { result } = await runRoot(servicesOf(crew, { onIdle, onAnswer, changedFiles }), narrowed, onThisThread, { ...request, type, model })
        return { value: result, status: result.status }
      })
    },

    async resume({ session: written, prompt, signal, onIdle, onAnswer, changedFiles }) {
      refuseClosed()
      const { subject, title } = sessionToResume(journal, written, prompt ?? null)
      const session = { kind: 'run', title, limits: slotLimits(), resumed: subject, ...(signal && { signal }) } as const
      return sessions.open(session, async (crew) => {
        const result = await resumeSession(servicesOf(crew, { onIdle, onAnswer, changedFiles }), journal, onThisThread, prompt ?? null)
        return { value: result, status: result.status }
      })
    },

    agents: {
      list: () => sessions.list().flatMap(({ session }) => journal.agents(session)),
      async send(id, text) {
        const { crew, live: agent } = found(id)
        if (!hears(agent)) throw notRunning(id)
        if (agent.model === null) throw new CadreError('USAGE', `${id} runs a program, which reads no messages.`)
        await crew.send(agent, { text, from: 'user' })
      },
      async stop(id) {
        const { crew, live: agent } = found(id)
        crew.stop(agent, STOPPED_BY_USER)
        await agent.gone
      },
    },

    agentAsTool: (definition) => agentAsTool(definition, {
      grant: newGrant,
      async chooseModel(type) {
        return type.program ? null : models.chooseRoot(undefined, type.model)
      },
      open: (title, signal, work) => sessions.open({ kind: 'run', title, limits: slotLimits(), ...(signal && { signal }) }, async (crew) => {
        const { result } = await work(servicesOf(crew))
        return { value: result, status: result.status }
      }),
    }),
    settled: () => sessions.settled(),

    sweep: (request) => sweepOver(request, newGrant()),

    async edit(request) {
      const rows: EditItem[] = []
      const summary = await sweepOver(request, newGrant(undefined, editMode(live.current().settings.permissions.mode)), {
        isDone: ({ merge }) => merge?.status === 'landed' || merge?.status === 'unchanged',
        onEnd: (item, result) => void rows.push({ item, status: editStatus(result), result }),
      })
      return { ...summary, items: rows.toSorted((a, b) => (a.item < b.item ? -1 : 1)) }
    },

    listTypes: () => types.list(),
    // Also the verifier, which nobody may start by name.
    explain: (name) =>
      explain(types.find(name) ?? types.require(name), newGrant(), { toolbox, startable: startable(), segment, project, choose: (choice) => models.choose(choice) }),

    async close() {
      closing.abort(new CadreError('STOPPED', 'The session was closed'))
      clearTimeout(watchSoon)
      await sessions.close()
      await isolation.close()
      models.close()
      // Each is closed whatever becomes of the others; the first fault is told.
      const closed = await Promise.allSettled([types.close(), threads.close(), programs.close(), endJournal(), telemetry?.close()])
      const fault = closed.find((end) => end.status === 'rejected')
      if (fault) throw fault.reason
    },
  }
}

/** What the root run of a session does with results that come when it is idle, and what is known of its changes. */
type RootDoors = {
  readonly onIdle?: IdlePolicy | undefined
  readonly onAnswer?: ((text: string) => void) | undefined
  readonly changedFiles?: ChangeOptions['changedFiles'] | undefined
}

/** Whoever asks for edits has said that files may be written: each agent writes in a worktree of its own, and what lands is committed. */
const editMode = (mode: PermissionMode): PermissionMode => (mode === 'auto' || mode === 'bypassPermissions' ? mode : 'acceptEdits')

const editStatus = ({ merge, worktree, status }: AgentResult): EditItem['status'] =>
  merge?.status ?? (status !== 'completed' ? status : worktree ? 'kept' : 'unchanged')

const notRunning = (id: string): CadreError => new CadreError('NOT_FOUND', `No agent ${id} is running here.`)

/** PRM-15. */
const startOf = ({ agent, parent, session, depth }: EventSubject, { title, agentType }: { readonly title: string; readonly agentType: string }): DelegationInfo =>
  ({ agentId: agent, parent, session, depth, title, agentType })

function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    throw new CadreError('NOT_FOUND', `There is no folder ${path} to work in.`, { cause })
  }
}
