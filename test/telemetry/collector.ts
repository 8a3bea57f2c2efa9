import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A span as a collector receives it over OTLP/HTTP in JSON, its attributes as an object. */
export type Received = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

type Value = { readonly stringValue?: string; readonly intValue?: number | string; readonly doubleValue?: number; readonly boolValue?: boolean }
type Wire = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: Value }[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}
type WireSpan = Omit<Received, 'attributes' | 'failed' | 'parentSpanId'> & {
  readonly parentSpanId?: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: Value }[]
}

/** OTLP's code for a span that failed. */
const FAILED = 2

/** A collector on 127.0.0.1. `status` is what it answers. */
export async function startCollector(status = 200): Promise<{ readonly url: string; readonly spans: Received[]; readonly services: string[]; readonly texts: string[] }> {
  const [spans, services, texts]: [Received[], string[], string[]] = [[], [], []]
  const server = createServer((request, response) => {
    json(request).then((body) => {
      texts.push(JSON.stringify(body))
      for (const { resource, scopeSpans } of (body as Wire).resourceSpans) {
        services.push(String(plain(resource.attributes)['service.name']))
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, parentSpanId: span.parentSpanId, failed: span.status.code === FAILED, attributes: plain(span.attributes) })
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    }, () => response.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The collector has no port.')
  return { url: `http://127.0.0.1:${address.port}`, spans, services, texts }
}

const plain = (attributes: readonly { readonly key: string; readonly value: Value }[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.intValue === undefined ? (value.stringValue ?? value.doubleValue ?? value.boolValue) : Number(value.intValue)]))
