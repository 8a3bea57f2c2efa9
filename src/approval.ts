import type { ApprovalAnswer, ApprovalRequest } from './core/approval.ts'
import type { ToolCall, ToolOutcome, Verdict } from './core/contract.ts'
import { isObject } from './core/json.ts'
import { placeOf } from './live-permissions.ts'
import { approvalId, approvalQuestion, deniedText } from './permissions/approvals.ts'
import { declined, judge } from './permissions/judge.ts'
import type { Judgement } from './permissions/judge.ts'
import type { Services } from './services.ts'
import { waiting } from './supervisor.ts'
import type { Agent } from './supervisor.ts'
import type { Tool } from './tools/define-tool.ts'

/** How permissions judge one agent's calls. */
export type Judge = {
  /** For a call that its grant lets through: refused by a rule, or as it was; one that asks is not left to the agent's own thread. */
  verdict(call: ToolCall, verdict: Verdict): Verdict
  /** Asks where a call has to: null when it may run, else what its model is told. The time it waits is none of its agent's. */
  approved(call: ToolCall, tool: Tool): Promise<ToolOutcome | null>
}

export function judgeOf(services: Services, agent: Agent, { sandboxed }: { sandboxed(): boolean }): Judge {
  const { toolbox, types } = services
  const { grant, frozen } = agent.started

  function judged(call: ToolCall, { name, effect }: Tool): Judgement {
    const permissions = services.permissions()
    const input = isObject(call.input) ? call.input : {}
    const written = name === 'agent' && typeof input['subagent_type'] === 'string' ? input['subagent_type'] : null
    const granted = grant.tools.find((held) => held.name === name)?.effect ?? effect
    return judge({ tool: name, effect: granted, input, ...(written !== null && { agentType: types.nameOf(written) }) }, {
      mode: grant.mode, rules: permissions.rules, place: placeOf(permissions, grant), sandboxed: sandboxed(), memoryFolder: frozen.memory?.path ?? null, searchesHide: false,
    })
  }

  function refusal(call: ToolCall, text: string, source: 'rule' | 'approval'): ToolOutcome {
    return { callId: call.id, tool: call.name, ok: false, text, source }
  }

  async function asked(call: ToolCall, { asks, why }: { readonly asks: string; readonly why: string }): Promise<ToolOutcome | null> {
    const { approver, timeoutMs } = services.permissions()
    if (approver === null) return refusal(call, declined(call.name), 'approval')
    const input = isObject(call.input) ? call.input : {}
    const [path, calls] = lineage(services, agent)
    const id = approvalId([...calls, call.id])
    const request: ApprovalRequest = { id, agent: path, tool: call.name, input, question: approvalQuestion({ agent: path, asks, input }), why }
    await services.crew.record(agent.subject, [{ type: 'approval.asked', data: request }])
    const limit = AbortSignal.timeout(timeoutMs)
    const answer = await waiting(agent, () => approver(request, AbortSignal.any([agent.signal, limit])).catch((error: unknown): ApprovalAnswer => {
      if (limit.aborted) return { approved: false, reason: 'nobody answered in time' }
      throw error
    }))
    const given: ApprovalAnswer = answer ?? { approved: false }
    await services.crew.record(agent.subject, [{ type: 'approval.answered', data: { id, ...given } }])
    return given.approved ? null : refusal(call, answer ? deniedText(call.name, given) : declined(call.name), 'approval')
  }

  return {
    verdict(call, verdict) {
      const tool = verdict.kind === 'run' ? toolbox.find(verdict.call.name) : undefined
      if (verdict.kind !== 'run' || !tool) return verdict
      const judgement = judged(verdict.call, tool)
      if (judgement.kind === 'deny') return { kind: 'refused', outcome: refusal(call, judgement.reason, judgement.source) }
      return judgement.kind === 'ask' ? { kind: 'run', call: { ...verdict.call, local: false } } : verdict
    },
    async approved(call, tool) {
      const judgement = judged(call, tool)
      if (judgement.kind === 'allow') return null
      return judgement.kind === 'deny' ? refusal(call, judgement.reason, judgement.source) : asked(call, judgement)
    },
  }
}

/** The types of an agent and those above it, the root run left out, and the calls that started them. */
function lineage({ crew }: Services, agent: Agent): readonly [path: string, calls: readonly string[]] {
  const line = [agent, ...crew.above(agent)].filter(({ subject }) => subject.depth > 0).toReversed()
  return [line.map(({ started }) => started.agentType).join('/') || agent.started.agentType, line.map(({ started, subject }) => started.callId ?? subject.agent)]
}
