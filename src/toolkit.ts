import { judgeOf } from './approval.ts'
import { createCalls } from './calls.ts'
import { companionsOf } from './companions.ts'
import type { Message, ToolCall, ToolOutcome, Verdict } from './core/contract.ts'
import type { JsonObject } from './core/json.ts'
import type { ToolAnswer } from './core/tool.ts'
import { programRun } from './program-run.ts'
import { openSeenFiles } from './seen-files.ts'
import type { Services } from './services.ts'
import type { Agent } from './supervisor.ts'
import { RUN_CODE } from './tools/run-code.ts'

/** What one agent's calls are run with, for as long as it runs. */
export type Toolkit = {
  decide(call: ToolCall): Verdict
  /** Runs a granted call on the main side; never rejects for the tool's own failure. */
  run(call: ToolCall): Promise<ToolOutcome>
  /** Told of the outcomes of the agent's own thread. */
  heard(outcomes: readonly ToolOutcome[]): void
  /** Ends what its calls started; resolves when nothing of it is alive. */
  close(): Promise<void>
}

const WRITES: readonly string[] = ['write', 'edit']

/** Calls whose time is that of the sub-agents they wait for. */
const WAITS: readonly string[] = ['agent', 'agent_wait']

/** `granted`: what its rights say of a call. `tools`: the names its model knows its tools by. */
export function openToolkit(services: Services, agent: Agent, { granted, tools, delegate, history }: {
  granted(call: ToolCall): Verdict
  readonly tools: readonly string[]
  delegate(input: JsonObject, callId: string): Promise<ToolAnswer>
  history(): readonly Message[]
}): Toolkit {
  const { grant, frozen } = agent.started
  const shell = services.openShell(grant)
  const judge = judgeOf(services, agent, { sandboxed: () => shell.confined })
  const decide = (call: ToolCall) => judge.verdict(call, granted(call))
  let seen: ReturnType<typeof openSeenFiles> | null = null
  const files = () => (seen ??= openSeenFiles({ root: grant.root, history: history(), texts: services.seenTexts }))
  const heard = (outcomes: readonly ToolOutcome[]) => {
    if (!grant.tools.some(({ effect }) => effect === 'write')) return
    files().heard(outcomes)
    for (const { tool, ok, reads } of outcomes) if (ok && WRITES.includes(tool)) for (const { path } of reads ?? []) agent.written.add(path)
  }
  const companions = companionsOf(services, agent)
  const calls = createCalls(services, agent, {
    decide,
    heard,
    approved: (call, tool) => judge.approved(call, tool),
    program: (code) => program(code),
    context: (callId, signal) => ({
      root: grant.root,
      paths: grant.paths,
      signal,
      callId,
      delegate,
      companions,
      blame: (path, lines) => services.blame(path, lines, signal),
      files: { hashOf: (path) => files().hashOf(path), seenText: (path) => files().seenText(path) },
      shell: { run: (command, { timeoutMs }) => shell.run(command, { timeoutMs: timeoutMs ?? services.limits().bashSeconds * 1000, signal }) },
      web: services.web,
      memory: frozen.memory ?? null,
      todo: {
        async replace(items) {
          agent.todo = items
        },
      },
    }),
  })
  const program = programRun(services, agent, { tools: tools.filter((name) => name !== RUN_CODE), waits: (name) => WAITS.includes(name), runCall: (call, signal) => calls.runInner(call, signal) })
  return { decide, run: (call) => calls.run(call), heard, close: () => shell.close() }
}
