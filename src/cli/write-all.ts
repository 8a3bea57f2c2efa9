import { once } from 'node:events'
import type { CliStream } from './context.ts'

/** Writes line by line no faster than the reader takes it, and stops when the stream has failed: `watchReader` says what that means. */
export async function writeAll(stream: CliStream, lines: Iterable<string>): Promise<void> {
  for (const line of lines) {
    if (!stream.write(line) && !(await drained(stream))) return
  }
}

/** Waits until a full stream takes more; false when it has failed and never will. */
export async function drained(stream: CliStream): Promise<boolean> {
  if (!stream.writable) return false
  try {
    await once(stream, 'drain')
    return true
  } catch {
    return false // the stream failed while it was full
  }
}

/** One JSON value, laid out for people and machines alike. */
export const writeJson = (stream: CliStream, value: unknown): void => void stream.write(`${JSON.stringify(value, null, 2)}\n`)
