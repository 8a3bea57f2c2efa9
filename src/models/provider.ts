import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { type Delta, type Model, type ModelContext, type ModelRequest, NO_USAGE, type Reply } from '../core/contract.ts'
import { underClock } from './call-clock.ts'
import { withFetch } from './call-fetch.ts'
import { classify } from './classify.ts'
import { effortOptions } from './effort.ts'
import { promptOf } from './prompt.ts'
import type { Fetch } from './provider-fetch.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { ReplyReader } from './read-reply.ts'
import { sealParts } from './reply-parts.ts'
import { TryFailure } from './try-failure.ts'
import { PlainReply, watchedFetch } from './watched-fetch.ts'

export type ProviderModel = {
  /** `<provider>/<model>`. */
  readonly id: string
  readonly type: ProviderSettings['type']
  /** Resolves once the provider's package is loaded. */
  readonly model: Promise<LanguageModelV4>
  readonly silenceMs: number
  /** Taken out of every message (JRN-08). */
  readonly secrets: readonly string[]
}

/**
 * What a reply may take on Anthropic's wire when the model is not one of Anthropic's own, whose limits the package knows: it would ask for
 * 4,096 tokens, and cut every longer file an agent writes.
 */
const FOREIGN_OUTPUT_TOKENS = 32_000

/**
 * A provider's model, one try per call: governed.ts repeats. Rejects with a TryFailure that carries what the try used, also when the
 * signal stopped it. A try that is silent for `silenceMs` is given up (MOD-05); it ends at once, whatever the package does.
 */
export function providerModel({ id, type, model, silenceMs, secrets }: ProviderModel): Model {
  const modelId = id.slice(id.indexOf('/') + 1)
  const provider = id.slice(0, id.indexOf('/'))
  const maxOutputTokens = type === 'anthropic' && !modelId.includes('claude-') ? { maxOutputTokens: FOREIGN_OUTPUT_TOKENS } : {}

  /** Reads one reply, streamed or whole, into the reader. */
  async function read(
    loaded: LanguageModelV4, request: ModelRequest, reader: ReplyReader, signal: AbortSignal, watched: Fetch,
  ): Promise<void> {
    const options: LanguageModelV4CallOptions = {
      ...promptOf(request, { model: id, type }),
      ...effortOptions(request.effort, type),
      ...maxOutputTokens,
      includeRawChunks: type === 'google',
      abortSignal: signal,
    }
    try {
      const { stream } = await withFetch(watched, () => loaded.doStream(options))
      // Read by hand: a `for await` that ends early cancels the stream, and waits for pipes inside the package that never answer.
      const pieces = stream.getReader()
      for (let next = await pieces.read(); !next.done; next = await pieces.read()) reader.push(next.value)
    } catch (error) {
      if (!(error instanceof PlainReply)) throw error
      const { answer } = error
      const whole = await withFetch(() => Promise.resolve(answer), () => loaded.doGenerate(options))
      reader.push({ type: 'response-metadata', ...whole.response })
      for (const part of whole.content) reader.push(part)
      reader.push({ type: 'finish', finishReason: whole.finishReason, usage: whole.usage })
    }
  }

  return {
    id,
    async generate(request: ModelRequest, { signal, onDelta }: ModelContext): Promise<Reply> {
      // Before the clock of silence starts: loading a package on a busy machine is not the provider's silence.
      const loaded = await model.catch((error: unknown) => { throw classify(error, { begun: false, usage: NO_USAGE, secrets }) })
      const listener = guarded(onDelta)
      const reader = new ReplyReader(callIds(request), request.turn, listener.onDelta)
      let begun = false
      try {
        await underClock(signal, silenceMs, (own, heard) => {
          own.addEventListener('abort', listener.mute, { once: true })
          return read(loaded, request, reader, own, watchedFetch((ok) => {
            begun ||= ok
            heard()
          }))
        })
        return replyOf(reader)
      } catch (error) {
        if (signal.aborted) throw new TryFailure('the call was stopped', { kind: 'stopped', usage: reader.usage })
        // The listener's own fault is not the provider's: no other try would mend it.
        if (listener.failed()) throw error
        throw classify(error, { begun, usage: reader.usage, secrets })
      }
    },
  }

  function replyOf(reader: ReplyReader): Reply {
    const { text, calls, usage, finish, parts } = reader
    if (finish === null || finish === 'interrupted') throw new TryFailure('the reply broke off', { kind: 'stream', usage })
    if (finish === 'error') throw new TryFailure('the reply ended with an error', { kind: 'stream', usage })
    if (text.trim() === '' && calls.length === 0) {
      throw new TryFailure(`a reply with neither text nor tool calls (${finish})`, { kind: 'empty', usage })
    }
    const opaque = sealParts(id, parts)
    return {
      text,
      calls,
      usage,
      model: `${provider}/${reader.model ?? modelId}`,
      ...(opaque === undefined ? {} : { opaque }),
      ...(finish === 'length' ? { notes: ['The last reply was cut at the output limit of the model.'] } : {}),
    }
  }
}

/** The ids of all calls so far. */
const callIds = (request: ModelRequest): readonly string[] =>
  request.messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map((call) => call.id) : []))

/** A listener that can be muted, and that remembers whether it threw. */
function guarded(onDelta: (delta: Delta) => void): { onDelta(delta: Delta): void; mute(): void; failed(): boolean } {
  let muted = false
  let failed = false
  return {
    onDelta(delta) {
      if (muted) return
      try {
        onDelta(delta)
      } catch (error) {
        failed = true
        throw error
      }
    },
    mute: () => { muted = true },
    failed: () => failed,
  }
}
