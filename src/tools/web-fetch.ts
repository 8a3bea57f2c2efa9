import { z } from 'zod'
import { defineTool } from './define-tool.ts'

const MAX_CHARS = 50_000

/** TOO-09. What does the work is loaded with the first call. */
export const webFetch = defineTool({
  name: 'web_fetch',
  effect: 'network',
  repeatable: true,
  description: 'Fetch a page of the public web as Markdown or text. A redirect to another host is told, not followed.',
  input: z.object({ url: z.string().min(1), max_chars: z.int().min(1).max(MAX_CHARS).default(MAX_CHARS) }),
  async run({ url, max_chars: maxChars }, { web, signal }) {
    const { fetchPage } = await import('./web-fetch/fetch-page.ts')
    return fetchPage({ url, maxChars }, { web, signal })
  },
})
