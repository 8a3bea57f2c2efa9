import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import type { Usage } from '../core/contract.ts'
import type { CadreEvent, DelegationStarted } from '../core/events.ts'
import type { AgentResult } from '../core/result.ts'
import { providerName } from './provider-name.ts'

/** Spans over the events of this process's sessions. */
export type Spans = {
  saw(event: CadreEvent): void
  /** Ends what is still open: sessions that are left to be resumed. */
  end(): void
}

/** An agent's open spans. `turn`: its model call; `calls` by call id. */
type Open = { readonly span: Span; readonly model: string; turn: Span | null; readonly calls: Map<string, Span> }

/**
 * The GenAI semantic conventions over the event stream: `invoke_agent` per agent, `chat` per model call, `execute_tool` per tool call, and
 * `invoke_workflow` around the agents of a sweep. A sub-agent lies in the call that started it. No reply, input or output is in them, and of
 * prompts no more than titles, which for a root run are the beginning of its prompt; an agent that failed has its reason.
 */
export function spansOf(tracer: Tracer): Spans {
  const sweeps = new Map<string, Span>()
  const agents = new Map<string, Open>()

  const begin = (name: string, kind: SpanKind, time: number, above: Span | undefined, attributes: Attributes): Span => {
    const context: Context = above ? trace.setSpan(ROOT_CONTEXT, above) : ROOT_CONTEXT
    return tracer.startSpan(name, { kind, startTime: time, attributes }, context)
  }

  /** What an agent was started in: a call of its parent's that is still open, its parent's whole run, or the sweep it is an item of. */
  function above({ session, parent }: CadreEvent, { callId }: DelegationStarted): Span | undefined {
    const lead = parent === null ? undefined : agents.get(parent)
    return (callId === null ? undefined : lead?.calls.get(callId)) ?? lead?.span ?? sweeps.get(session)
  }

  function beginAgent(event: CadreEvent, started: DelegationStarted): void {
    const { agent, session, time } = event
    if (agents.has(agent)) return
    const { model, agentType, title, background } = started
    const span = begin(`invoke_agent ${agentType}`, SpanKind.INTERNAL, time, above(event, started), {
      'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.id': agent, 'gen_ai.agent.name': agentType, 'gen_ai.conversation.id': session,
      ...modelAttributes(model), 'cadre.title': title, 'cadre.background': background,
    })
    agents.set(agent, { span, model, turn: null, calls: new Map() })
  }

  /** Whatever an agent has open ends with it. */
  function endAgent(agent: string, time: number | undefined, result: AgentResult | null): void {
    const open = agents.get(agent)
    if (!open) return
    agents.delete(agent)
    for (const span of [open.turn, ...open.calls.values()]) if (span) fail(span, time, 'interrupted', null)
    if (!result) {
      fail(open.span, time, 'interrupted', null)
      return
    }
    open.span.setAttributes({
      ...usageAttributes(result.usage), 'cadre.status': result.status, 'cadre.turns': result.turns, 'cadre.tool_calls': result.toolCalls, 'cadre.cost_usd': result.costUsd,
    })
    if (result.success) open.span.end(time)
    else fail(open.span, time, result.cause ?? result.status, result.error)
  }

  function saw(event: CadreEvent): void {
    const { agent, session, time, type, data } = event
    const open = agents.get(agent)
    switch (type) {
      case 'session.started':
        if (data.kind === 'sweep') {
          sweeps.set(session, begin('invoke_workflow sweep', SpanKind.INTERNAL, time, undefined, {
            'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': 'sweep', 'gen_ai.conversation.id': session, 'cadre.title': data.title,
          }))
        }
        break
      case 'session.ended': {
        const sweep = sweeps.get(session)
        sweeps.delete(session)
        sweep?.setAttribute('cadre.status', data.status).end(time)
        break
      }
      case 'delegation.started':
        beginAgent(event, data)
        break
      case 'turn.started':
        if (open && open.model !== 'script') {
          open.turn = begin(`chat ${nameOf(open.model)}`, SpanKind.CLIENT, time, open.span, {
            'gen_ai.operation.name': 'chat', ...modelAttributes(open.model), 'gen_ai.agent.id': agent, 'gen_ai.conversation.id': session, 'cadre.turn': data.turn,
          })
        }
        break
      case 'turn.ended': {
        const { model, usage } = data.reply
        open?.turn?.setAttributes({ 'gen_ai.response.model': model, ...usageAttributes(usage) }).end(time)
        if (open) open.turn = null
        break
      }
      case 'tool.started':
        open?.calls.set(data.call.id, begin(`execute_tool ${data.call.name}`, SpanKind.INTERNAL, time, open.span, {
          'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': data.call.name, 'gen_ai.tool.call.id': data.call.id, 'gen_ai.tool.type': 'function', 'gen_ai.agent.id': agent,
        }))
        break
      case 'tool.ended': {
        const { callId, ok } = data.outcome
        const span = open?.calls.get(callId)
        open?.calls.delete(callId)
        if (ok) span?.end(time)
        else if (span) fail(span, time, 'tool_error', null)
        break
      }
      case 'rate.paused':
        open?.span.addEvent('cadre.rate_paused', { 'cadre.reason': data.reason, 'cadre.wait_ms': data.waitMs, 'cadre.attempt': data.attempt }, time)
        break
      case 'delegation.ended':
        endAgent(agent, time, data.result)
        break
      default:
        break
    }
  }

  return {
    saw,
    end() {
      for (const agent of agents.keys()) endAgent(agent, undefined, null)
      for (const sweep of sweeps.values()) fail(sweep, undefined, 'interrupted', null)
      sweeps.clear()
    },
  }
}

function fail(span: Span, time: number | undefined, kind: string, message: string | null): void {
  span.setAttribute('error.type', kind).setStatus({ code: SpanStatusCode.ERROR, ...(message !== null && { message }) }).end(time)
}

/** A model's id without its provider's name. */
const nameOf = (model: string): string => model.slice(model.indexOf('/') + 1)

/** A program asks no model. */
function modelAttributes(model: string): Attributes {
  if (model === 'script') return {}
  const provider = providerName(model)
  return { 'gen_ai.request.model': nameOf(model), ...(provider !== null && { 'gen_ai.provider.name': provider }) }
}

/** Cached tokens are part of the conventions' input. */
const usageAttributes = (usage: Usage): Attributes => ({
  'gen_ai.usage.input_tokens': usage.input + usage.cacheRead + usage.cacheWrite,
  'gen_ai.usage.output_tokens': usage.output,
  'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
  'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
})
