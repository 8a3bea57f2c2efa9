import type { Brief, Host, Report, ToolCall, ToolOutcome, ToolRunner } from './contract.ts'
import { noOutcome } from './contract.ts'

/**
 * The agent loop, the same for the parent on the main thread and for every sub-agent in its thread: ask for a reply, run its calls, hand in
 * their outcomes, until a reply has no calls. Rejects with whatever `host.next` rejects with.
 */
export async function runLoop(_brief: Brief, host: Host, local: ToolRunner): Promise<Report> {
  let outcomes: readonly ToolOutcome[] = []
  for (let turn = 1; ; turn += 1) {
    const reply = await host.next(outcomes)
    if (reply.calls.length === 0) return { text: reply.text, turns: turn }
    outcomes = await runCalls(reply.calls, host, local)
  }
}

/** Runs the calls of one reply side by side; outcomes keep the order of the calls (TOO-12). */
async function runCalls(calls: readonly ToolCall[], host: Host, local: ToolRunner): Promise<readonly ToolOutcome[]> {
  const remote = calls.filter((call) => !call.local)
  // Remote calls first: a long read that keeps this thread busy must not hold them back.
  const [theirs, mine] = await Promise.all([
    remote.length > 0 ? host.call(remote) : [],
    Promise.all(calls.filter((call) => call.local).map((call) => local(call))),
  ])
  const byId = new Map([...mine, ...theirs].map((outcome) => [outcome.callId, outcome]))
  return calls.map((call) => byId.get(call.id) ?? noOutcome(call))
}
