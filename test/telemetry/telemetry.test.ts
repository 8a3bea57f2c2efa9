import { describe, expect, onTestFinished, test } from 'vitest'
import { cliPlace } from '../cli/place.ts'
import { holds } from '../delegation/lab.ts'
import { startProviderServer } from '../server/provider-server.ts'
import type { Script } from '../server/provider-server.ts'
import { startCollector } from './collector.ts'
import type { Received } from './collector.ts'

const USAGE = { input: 100, output: 10, cacheRead: 40, cacheWrite: 7 }

/** A lead with two explorers, of which one reads a file that is not there. */
const lead: Script = (request) => {
  if (holds(request, 'agent')) {
    const part = (n: number) => ({ name: 'agent', input: { description: `part ${n}`, prompt: `SECRET-PROMPT ${n}`, subagent_type: 'explorer' } })
    return request.turn === 1 ? { calls: [part(1), part(2)], usage: USAGE } : { text: 'SECRET-ANSWER', usage: USAGE }
  }
  if (request.turn > 1) return { text: 'SECRET-RESULT', usage: USAGE }
  return { calls: [{ name: 'read', input: { path: request.task.endsWith('2') ? 'missing.txt' : 'package.json' } }], usage: USAGE }
}

async function place(script: Script, files: Readonly<Record<string, string>> = {}) {
  const server = await startProviderServer({ script })
  onTestFinished(() => server.close())
  const here = cliPlace({ 'project/package.json': '{}\n', ...files })
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-secret', CADRE_MODEL: 'anthropic/claude-test' }
  return { run: (args: readonly string[], more: NodeJS.ProcessEnv = {}) => here.cadre(args, { env: { ...env, ...more } }) }
}

const named = (spans: readonly Received[], name: string): readonly Received[] => spans.filter((span) => span.name === name)
const below = (spans: readonly Received[], { spanId }: Received): readonly string[] => spans.filter(({ parentSpanId }) => parentSpanId === spanId).map(({ name }) => name).toSorted()

describe('CADRE_OTEL=1 sends the event stream as spans by the GenAI conventions', () => {
  test('one trace: each sub-agent lies in the call that started it, with its model calls and tools, and their tokens add up', async () => {
    const { url, spans, services, texts } = await startCollector()
    const { run } = await place(lead)
    const { code, stdout, stderr } = await run(['-p', 'go'], { CADRE_OTEL: '1', OTEL_EXPORTER_OTLP_ENDPOINT: url })
    expect([code, stdout, stderr]).toEqual([0, 'SECRET-ANSWER\n', ''])
    expect(new Set(services)).toEqual(new Set(['cadre']))
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const [root, ...more] = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(more).toEqual([])
    if (!root) throw new Error('There is no root span')
    expect(below(spans, root)).toEqual(['chat claude-test', 'chat claude-test', 'execute_tool agent', 'execute_tool agent'])
    for (const call of named(spans, 'execute_tool agent')) expect(below(spans, call)).toEqual(['invoke_agent explorer'])
    const explorers = named(spans, 'invoke_agent explorer')
    for (const explorer of explorers) {
      expect(below(spans, explorer)).toEqual(['chat claude-test', 'chat claude-test', 'execute_tool read'])
      expect(explorer.attributes).toMatchObject({
        'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'explorer', 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'claude-test',
        'gen_ai.conversation.id': expect.stringMatching(/^ss-/) as string, 'gen_ai.agent.id': expect.stringMatching(/^sa-/) as string,
        'gen_ai.usage.input_tokens': 2 * 147, 'gen_ai.usage.output_tokens': 20, 'gen_ai.usage.cache_read.input_tokens': 80, 'gen_ai.usage.cache_creation.input_tokens': 14, 'cadre.status': 'completed',
      })
    }
    expect(named(spans, 'execute_tool read').map(({ failed, attributes }) => [failed, attributes['error.type']])).toEqual(expect.arrayContaining([[false, undefined], [true, 'tool_error']]))
    expect(spans.filter(({ failed }) => failed)).toHaveLength(1)
    expect(texts.join('')).not.toMatch(/SECRET|sk-ant/)
  })

  test('an agent that fails says why, and what it had open fails with it', async () => {
    const { url, spans } = await startCollector()
    const { run } = await place(() => ({ status: 401, error: 'no such key' }))
    expect((await run(['-p', 'go'], { CADRE_OTEL: '1', OTEL_EXPORTER_OTLP_ENDPOINT: url })).code).toBe(1)
    expect(spans.map(({ name, failed, attributes }) => `${name}: ${failed ? 'failed' : 'well'} (${String(attributes['error.type'])})`)).toEqual([
      'chat claude-test: failed (interrupted)', 'invoke_agent main: failed (model)',
    ])
  })

  test('the agents of a sweep lie in one workflow', async () => {
    const { url, spans } = await startCollector()
    const { run } = await place(() => ({}), { 'project/a.md': '# A\n', 'project/b.md': '# B\n' })
    const { code } = await run(['sweep', '--agent', 'doc-links', '--over', '*.md', '--batch', '1'], { CADRE_OTEL: '1', OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: 'ours' })
    expect(code).toBe(0)
    const [workflow] = named(spans, 'invoke_workflow sweep')
    if (!workflow) throw new Error('There is no workflow')
    expect(below(spans, workflow)).toEqual(['invoke_agent doc-links', 'invoke_agent doc-links'])
    expect(spans.filter(({ name }) => name.startsWith('chat'))).toEqual([])
  })

  test('a collector that is not there, or refuses, is one warning; the run is as without', async () => {
    const { url } = await startCollector(400)
    const { run } = await place(lead)
    for (const endpoint of ['http://127.0.0.1:9', url]) {
      const { code, stdout, stderr } = await run(['-p', 'go'], { CADRE_OTEL: '1', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: '500' })
      expect([code, stdout]).toEqual([0, 'SECRET-ANSWER\n'])
      expect(stderr).toMatch(/^CADRE_OTEL:1: warning: spans could not be sent: .+; start a collector, or set OTEL_EXPORTER_OTLP_ENDPOINT to where it listens\n$/)
    }
  })

  test('off by default: nothing is sent', async () => {
    const { url, spans } = await startCollector()
    const { run } = await place(lead)
    expect((await run(['-p', 'go'], { OTEL_EXPORTER_OTLP_ENDPOINT: url })).code).toBe(0)
    expect(spans).toEqual([])
  })
})
