import type { Message } from '../core/contract.ts'
import type { EventBody, Sender } from '../core/events.ts'
import type { Letter } from '../core/letter.ts'
import { letterMessage } from '../core/letter.ts'

/** What an agent is to be told that is journaled only with the turn that reads it. */
export type Debt = {
  /** The agent it is about, whose result it is or of which it tells; null for a reminder about the reader itself. */
  readonly of: string | null
  /** It is read with the next turn there is, and is no reason for one. */
  readonly rides?: boolean
  /** Called when it is read: a result lies in the journal until then, and not here (JRN-08). */
  open(): { readonly message: Message; readonly event: EventBody }
}

/** What an agent reads before its next turn. */
export type Mailbox = {
  /** Puts in a message that is journaled already, or on its way there ahead of the agent's next turn. */
  deliver(letter: Letter): void
  /** Puts in what the next turn has to journal. */
  owe(debt: Debt): void
  /** Takes out what is about an agent: its result was handed over another way (DEL-07), or says more. */
  withdraw(of: string): void
  /** What `read` would give now. */
  peek(): readonly Message[]
  /** Takes out all there is, in the order the journal will have it, and the events that are still to be journaled. */
  read(): { readonly messages: readonly Message[]; readonly events: readonly EventBody[] }
  /** Messages nobody has read yet. */
  readonly unread: readonly Letter[]
  /** Whether nothing in it asks for a turn. */
  readonly isEmpty: boolean
  /** Resolves when something was put in, or after `ms`. Rejects with the signal's reason. */
  change(signal: AbortSignal, ms?: number): Promise<void>
}

export function createMailbox(): Mailbox {
  let letters: Letter[] = []
  let debts: Debt[] = []
  let changed = Promise.withResolvers<void>()

  function tell(): void {
    changed.resolve()
    changed = Promise.withResolvers<void>()
  }

  function opened() {
    const owed = debts.map((debt) => debt.open())
    return { messages: [...letters.map(letterMessage), ...owed.map(({ message }) => message)], events: owed.map(({ event }) => event) }
  }

  return {
    deliver(letter) {
      letters.push(letter)
      tell()
    },
    owe(debt) {
      debts.push(debt)
      tell()
    },
    withdraw(of) {
      debts = debts.filter((debt) => debt.of !== of)
    },
    peek: () => opened().messages,
    read() {
      const all = opened()
      letters = []
      debts = []
      return all
    },
    get unread() {
      return letters
    },
    get isEmpty() {
      return letters.length === 0 && debts.every(({ rides }) => rides)
    },
    async change(signal, ms) {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const onAbort = () => reject(signal.reason)
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await Promise.race([changed.promise, promise])
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

/** A reminder of Cadre's own, to be journaled with the turn that reads it. */
export const reminder = (letter: { readonly text: string; readonly from: Sender }, about?: string): Debt => ({
  of: about ?? null,
  open: () => ({ message: letterMessage(letter), event: { type: 'message.sent', data: { ...letter, ...(about !== undefined && { about }) } } }),
})
