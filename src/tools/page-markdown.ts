import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const here = import.meta.url
/** From source `.ts` starts `.ts`; in the build this file's chunk lies as deep as it does here. */
const entry = fileURLToPath(new URL(`../../sandbox/markdown${here.endsWith('.ts') ? '.ts' : '.js'}`, here))

const CONVERSION = { ms: 10_000, heapMb: 512, outputBytes: 64_000_000 } as const
/** The process ends itself at its limit; one that cannot is ended so much later, in ms. */
const GRACE_MS = 2_000

/**
 * The Markdown of a page, its links absolute. In a process of its own, which may read files and no more: converting takes seconds for the longest pages there are and
 * hours for some made to do so, and their documents fill a heap. Rejects with what the model should read, or with the signal's reason.
 */
export function pageMarkdown(html: string, url: URL, signal: AbortSignal): Promise<string> {
  const flags = ['--permission', '--allow-fs-read=*', `--max-old-space-size=${CONVERSION.heapMb}`, '--disable-warning=SecurityWarning']
  const options = { env: {}, timeout: CONVERSION.ms + GRACE_MS, killSignal: 'SIGKILL', maxBuffer: CONVERSION.outputBytes, signal } as const
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [...flags, entry, url.href, String(CONVERSION.ms)], options, (error, markdown) => {
      if (signal.aborted) reject(signal.reason as Error)
      else if (error) reject(new Error(`${url.href} cannot be turned into Markdown: its HTML is too large or too deeply nested`, { cause: error }))
      else resolve(markdown)
    })
    child.stdin?.on('error', () => undefined) // it ended early; its exit says why
    child.stdin?.end(html)
  })
}
