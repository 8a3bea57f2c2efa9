import type { CadreEvent } from '../core/events.ts'
import type { CliStream } from './context.ts'
import { drained } from './write-all.ts'

export type EventStream = {
  onEvent(event: CadreEvent): void
  /** Resolves when everything was handed to the reader, or the reader is gone. */
  end(): Promise<void>
}

/**
 * Writes events as JSON lines (CMD-02) to a reader that may be slow, and keeps none of them in memory for it: what came while the stream was
 * full is read again from the journal, `journaled`, where it stands already. Only `delta` events, which are never journaled and only shown
 * (MOD-06), are lost to a reader that is behind.
 */
export function createEventStream(stream: CliStream, journaled: (session: string, afterSeq: number) => Iterable<CadreEvent>): EventStream {
  let lastSeq = 0
  let session = ''
  let missed = false
  let catching: Promise<void> | null = null

  /** Whether the stream takes more at once. */
  const write = (event: CadreEvent): boolean => {
    if (event.type !== 'delta') lastSeq = event.seq
    return stream.write(`${JSON.stringify(event)}\n`)
  }

  async function catchUp(): Promise<void> {
    let open = await drained(stream)
    while (open && missed) {
      missed = false
      for (const event of journaled(session, lastSeq)) {
        open = write(event) || (await drained(stream))
        if (!open) return
      }
    }
    if (open) catching = null // else nobody reads any more, and nothing is written
  }

  return {
    onEvent(event) {
      session = event.session
      // What was read from the journal may be told only now.
      if (event.type !== 'delta' && event.seq <= lastSeq) return
      if (catching) missed ||= event.type !== 'delta'
      else if (!write(event)) catching = catchUp()
    },
    async end() {
      await catching
    },
  }
}
