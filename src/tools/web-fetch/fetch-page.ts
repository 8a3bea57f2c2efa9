import type { IncomingMessage } from 'node:http'
import htmlEncodingSniffer from 'html-encoding-sniffer'
import { messageOf } from '../../core/errors.ts'
import type { ToolAnswer } from '../../core/tool.ts'
import { isBinary } from '../reading/regular-file.ts'
import { pageMarkdown } from '../page-markdown.ts'
import { follow, fetchable } from './follow.ts'
import { mediaType } from './media-type.ts'
import { readBody } from './read-body.ts'
import type { WebAccess } from './web-access.ts'

const FETCH_LIMITS = { seconds: 30, mb: 5 } as const
const MS_PER_S = 1_000

export type FetchInput = { readonly url: string; readonly maxChars: number }
export type FetchContext = { readonly web: WebAccess; readonly signal: AbortSignal }

/** Fetches one page as text (TOO-09). Rejects with what the model should read, or with the signal's reason. */
export async function fetchPage({ url: given, maxChars }: FetchInput, { web, signal }: FetchContext): Promise<ToolAnswer> {
  if (!URL.canParse(given)) throw new Error(`url: ${JSON.stringify(given)} is no address; give all of it, with https://`)
  const start = fetchable(new URL(given))
  const late = AbortSignal.timeout(FETCH_LIMITS.seconds * MS_PER_S)
  const limited = AbortSignal.any([signal, late])
  try {
    return { text: await textOf(start, maxChars, web, limited) }
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(late.aborted ? `${start.href} took longer than ${FETCH_LIMITS.seconds} s` : messageOf(error), { cause: error })
  }
}

async function textOf(start: URL, maxChars: number, web: WebAccess, signal: AbortSignal): Promise<string> {
  const followed = await follow(start, web, signal)
  if ('elsewhere' in followed) return `${start.href} redirects to another host: ${followed.elsewhere.href}\nFetch that url if you want it.`
  const { answer, url } = followed
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 299) {
    answer.destroy()
    throw new Error(`${url.href} answered ${status} ${answer.statusMessage ?? ''}`.trimEnd())
  }
  const text = clipped(await contentOf(answer, url, signal), maxChars)
  return url.href === start.href ? text : `[redirected to ${url.href}]\n${text}`
}

async function contentOf(answer: IncomingMessage, url: URL, signal: AbortSignal): Promise<string> {
  const { kind, essence, charset } = mediaType(answer.headers['content-type'])
  if (kind === 'binary') {
    answer.destroy()
    throw new Error(`${url.href} is ${essence} (${sizeOf(answer)}): only text is fetched`)
  }
  const bytes = await readBody(answer, FETCH_LIMITS.mb, signal).catch((error: unknown) => {
    throw signal.aborted ? error : new Error(`${url.href}: ${messageOf(error)}`, { cause: error })
  })
  const encoding = htmlEncodingSniffer(bytes, { ...(charset !== null && { transportLayerEncodingLabel: charset }), defaultEncoding: 'UTF-8' })
  if (isBinary(bytes) && !encoding.startsWith('UTF-16')) throw new Error(`${url.href} is binary, ${essence} (${bytes.length} bytes): only text is fetched`)
  const text = new TextDecoder(encoding).decode(bytes)
  return kind === 'html' ? pageMarkdown(text, url, signal) : text
}

function sizeOf({ headers }: IncomingMessage): string {
  const length = headers['content-length']
  return length === undefined ? 'of unknown size' : `${length} bytes`
}

const clipped = (text: string, most: number): string => {
  const shown = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
  const more = text.length - shown.length
  return more > 0 ? `${shown}\n[${more} more characters of ${text.length}: see max_chars]` : text
}
