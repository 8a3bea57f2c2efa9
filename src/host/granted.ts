import type { Host, ToolCall, Verdict } from '../core/contract.ts'

/**
 * A host that lets through only calls the grant allows (GRA-09). Each reply's calls are decided once, here, before the far side sees them; what
 * comes back through `call` is looked up by id, so a thread cannot widen, change or invent a call.
 */
export function granted(host: Host, decide: (call: ToolCall) => Verdict): Host {
  let verdicts: ReadonlyMap<string, Verdict> = new Map()
  return {
    async next(outcomes) {
      // A refusal stands whatever the far side hands in for it.
      const refused = [...verdicts.values()].flatMap((verdict) => (verdict.kind === 'refused' ? verdict.outcome : []))
      const reply = await host.next([...outcomes, ...refused])
      const decided = reply.calls.map((call) => [call, decide(call)] as const)
      verdicts = new Map(decided.map(([call, verdict]) => [call.id, verdict]))
      return { ...reply, calls: decided.map(([call, verdict]) => (verdict.kind === 'run' ? verdict.call : { ...call, local: false })) }
    },
    async call(calls) {
      const asked = calls.map((call) => verdicts.get(call.id) ?? decide({ ...call, local: false }))
      const running = asked.flatMap((verdict) => (verdict.kind === 'run' && !verdict.call.local ? verdict.call : []))
      const ran = new Map((running.length > 0 ? await host.call(running) : []).map((outcome) => [outcome.callId, outcome]))
      return calls.flatMap((call, i) => {
        const verdict = asked[i]
        const outcome = verdict?.kind === 'refused' ? verdict.outcome : ran.get(call.id)
        return outcome ?? { callId: call.id, tool: call.name, ok: false, text: `Error: ${call.name} runs in the agent's own thread` }
      })
    },
  }
}
