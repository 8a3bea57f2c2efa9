import { onTestFinished } from 'vitest'
import type { Delta, Model, ModelRequest, Reply, ToolSchema } from '../../src/core/contract.ts'
import { createModels, type Models, type ModelsOptions } from '../../src/models/models.ts'
import { type ProviderServer, type Script, startProviderServer } from '../server/provider-server.ts'

/** What all providers of the tests answer to, besides the scripted server's two wires: the compatible package speaks OpenAI's wire. */
export const PROVIDERS = ['anthropic', 'openai', 'compatible'] as const

export const KEY = 'sk-test-0123456789abcdef'

export const READ: ToolSchema = {
  name: 'read',
  description: 'Read a text file.',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false },
}

/** A scripted server that ends with the test. */
export async function server(script: Script): Promise<ProviderServer> {
  const started = await startProviderServer({ script })
  onTestFinished(() => started.close())
  return started
}

/** Models whose providers all point at the server; waits take no time unless `sleep` says otherwise. */
export function modelsAt(url: string, options: Partial<ModelsOptions> = {}): Models {
  const models = createModels({
    providers: { compatible: { type: 'openai-compatible', baseUrl: `${url}/v1`, apiKeyEnv: 'COMPATIBLE_KEY' } },
    env: { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, COMPATIBLE_KEY: KEY },
    aliases: {},
    sleep: () => Promise.resolve(),
    ...options,
  })
  onTestFinished(() => models.close())
  return models
}

export const request = (overrides: Partial<ModelRequest> = {}): ModelRequest => ({
  agent: 'a1',
  turn: 1,
  time: 0,
  system: 'You are a test.',
  tools: [READ],
  messages: [{ role: 'user', text: 'Hello' }],
  ...overrides,
})

export type Asked = { readonly reply: Reply; readonly deltas: readonly Delta[] }

const NEVER = new AbortController().signal

export async function ask(model: Model, overrides: Partial<ModelRequest> = {}, signal: AbortSignal = NEVER): Promise<Asked> {
  const deltas: Delta[] = []
  const reply = await model.generate(request(overrides), { signal, onDelta: (delta) => void deltas.push(delta) })
  return { reply, deltas }
}

/** The text left over after all deltas and resets were shown. */
export function shown(deltas: readonly Delta[]): string {
  let text = ''
  for (const delta of deltas) {
    if (delta.kind === 'reset') text = ''
    else if (delta.kind === 'text') text += delta.text
  }
  return text
}
