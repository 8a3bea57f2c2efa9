import { once } from 'node:events'
import type { CliStream } from './context.ts'

/** Writes line by line no faster than the reader takes it. */
export async function writeAll(stream: CliStream, lines: Iterable<string>): Promise<void> {
  for (const line of lines) if (!stream.write(line)) await once(stream, 'drain')
}

/** One JSON value, laid out for people and machines alike. */
export const writeJson = (stream: CliStream, value: unknown): void => void stream.write(`${JSON.stringify(value, null, 2)}\n`)
