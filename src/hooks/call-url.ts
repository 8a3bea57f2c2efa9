/** What is read of an answer. */
const ANSWER_LIMITS = { bytes: 100_000 }

export type UrlCall = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string; readonly timeoutMs: number }

/** `failed`: in words; the body of a good answer otherwise. */
export type UrlAnswer = { readonly body: string } | { readonly failed: string }

/**
 * Posts JSON to a hook's URL; never rejects. Only a 2xx answer counts. A redirect is not followed: it could lead to a place the policy does
 * not list.
 */
export async function callUrl({ url, headers, body, timeoutMs }: UrlCall, signal: AbortSignal): Promise<UrlAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    })
    if (response.ok) {
      const text = await readText(response)
      return text === null ? { failed: `its answer is longer than ${ANSWER_LIMITS.bytes} bytes` } : { body: text }
    }
    await response.body?.cancel()
    return { failed: `it answered ${response.status}` }
  } catch (error) {
    if (signal.aborted) return { failed: 'it was stopped' }
    return { failed: timeout.aborted ? `it gave no answer within ${timeoutMs / 1_000} s` : `it could not be reached (${causeOf(error)})` }
  }
}

/** Null: too long. */
async function readText(response: Response): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (bytes > ANSWER_LIMITS.bytes) return null // leaving the loop cancels the body
  }
  return text + decoder.decode()
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}

/** Whether a URL is one of the policy's `allowedHttpHookUrls`; `*` in an entry stands for any text but a slash, at its end for anything. */
export function isAllowedUrl(url: string, allowed: readonly string[]): boolean {
  const { href } = new URL(url)
  return allowed.some((entry) => {
    const whole = entry.endsWith('*')
    const pattern = (whole ? entry.slice(0, -1) : entry).split('*').map((part) => RegExp.escape(part)).join('[^/]*')
    return new RegExp(`^${pattern}${whole ? '' : '$'}`).test(href) || (!entry.includes('*') && URL.canParse(entry) && new URL(entry).href === href)
  })
}
