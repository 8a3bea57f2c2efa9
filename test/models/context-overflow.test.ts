import { describe, expect, test } from 'vitest'

import { NO_USAGE } from '../../src/core/contract.ts'
import { CadreError } from '../../src/core/errors.ts'
import { classify } from '../../src/models/classify.ts'
import { isContextOverflow } from '../../src/models/context-overflow.ts'
import { governed } from '../../src/models/governed.ts'

const facts = { begun: false, usage: NO_USAGE, secrets: [] }

/** An error as the provider packages throw it. */
const refusal = (statusCode: number, message: string) => Object.assign(new Error(message), { statusCode, responseBody: JSON.stringify({ error: { message } }) })

/** Each as its provider or server words it. */
const OVERFLOWS: Readonly<Record<string, string>> = {
  'Anthropic': 'prompt is too long: 205668 tokens > 200000 maximum',
  'Anthropic with output': 'input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
  'OpenAI': 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'OpenAI, earlier': 'This model\'s maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.',
  'OpenRouter': 'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).',
  'Google': 'The input token count (314175) exceeds the maximum number of tokens allowed (131072).',
  'xAI': 'This model\'s maximum prompt length is 131072 but the request contains 537812 tokens.',
  'llama.cpp': 'request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it',
  'LM Studio': 'Trying to keep the first 4500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
  'Bedrock': 'Input is too long for requested model.',
  'Groq': 'Please reduce the length of the messages or completion.',
  'a gateway': 'litellm.ContextWindowExceededError: context_length_exceeded',
}

describe('PRO-08: a request that does not fit into the model is told from other refusals', () => {
  for (const [provider, message] of Object.entries(OVERFLOWS)) {
    test(`as ${provider} says it, in an answer, a stream or a 500, bare and as the call's final error`, () => {
      for (const error of [refusal(400, message), { type: 'error', message }, refusal(500, message)]) {
        const failure = classify(error, { ...facts, begun: !(error instanceof Error) })
        expect(failure.kind).toBe('refused')
        expect(isContextOverflow(failure)).toBe(true)
        expect(isContextOverflow(new CadreError('MODEL', 'p/m failed', { cause: failure }))).toBe(true)
      }
    })
  }

  test('a body over what the server takes counts too (413)', () => {
    expect(isContextOverflow(classify(refusal(413, 'Request exceeds the maximum size'), facts))).toBe(true)
  })

  for (const [title, error] of Object.entries({
    'a rate limit in tokens': refusal(429, 'Please reduce the length of the messages: the rate limit is 30000 tokens per minute'),
    'another bad request': refusal(400, 'max_tokens: must be at least 1'),
    'a wrong key': refusal(401, 'invalid x-api-key'),
    'an overloaded server': refusal(529, 'Overloaded'),
    'a network that is gone': Object.assign(new Error('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
  })) {
    test(`${title} is none`, () => {
      expect(isContextOverflow(classify(error, facts))).toBe(false)
    })
  }

  test('what is no failed call at all is none, nor is our own advice about context length', () => {
    for (const error of [null, undefined, 'prompt is too long', new Error('prompt is too long'), new CadreError('PROGRAM', 'prompt is too long')]) {
      expect(isContextOverflow(error)).toBe(false)
    }
  })

  test('such a request is not sent again', async () => {
    let tries = 0
    const model = governed({
      id: 'p/m',
      generate() {
        tries += 1
        return Promise.reject(classify({ type: 'error', message: OVERFLOWS['OpenAI'] }, { ...facts, begun: true }))
      },
    }, { provider: 'p', maxTries: 6, sleep: () => Promise.resolve(), onPause() {}, onLostUsage() {}, remedy: () => 'Choose another model.' })
    const request = { agent: 'a', turn: 1, time: 0, system: '', tools: [], messages: [] }
    const error: unknown = await model.generate(request, { signal: new AbortController().signal, onDelta() {} }).catch((thrown: unknown) => thrown)
    expect(isContextOverflow(error)).toBe(true)
    expect(tries).toBe(1)
  })
})
