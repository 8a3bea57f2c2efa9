import { createPaint } from './paint.ts'
import type { Paint } from './paint.ts'
import type { CliStream } from './context.ts'

/** How a stream is written to: its colours (none unless it is a terminal and NO_COLOR is unset), and its columns (no limit elsewhere). */
export type Style = { readonly paint: Paint; readonly width: number }

/** Columns of a terminal that does not say, and the fewest that still can be laid out. */
const COLUMNS = { usual: 80, least: 40 }

export function styleOf(stream: CliStream, env: Readonly<Record<string, string | undefined>>): Style {
  const terminal = stream.isTTY === true
  const width = terminal ? Math.max(COLUMNS.least, stream.columns ?? COLUMNS.usual) : Infinity
  return { paint: createPaint(terminal && !env['NO_COLOR']), width }
}
