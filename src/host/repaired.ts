import type { Reply } from '../core/contract.ts'
import type { Json } from '../core/json.ts'
import { Stopped } from '../core/stopped.ts'
import type { Mailbox } from './mailbox.ts'
import { reminder } from './mailbox.ts'

export type OutputCheck = (text: string) => { readonly value: Json } | { readonly errors: string }

/**
 * AGT-10, for `insistent`: a last reply that does not fit its schema goes back with the errors, at most `retries` times, `before` of them in an
 * earlier process. `take` gets the value of one that fits. Throws Stopped (`output_schema`) for the last that does not.
 */
export function fitsSchema({ check, retries, before, mailbox, take }: {
  readonly check: OutputCheck
  readonly retries: number
  readonly before: number
  readonly mailbox: Mailbox
  take(value: Json): void
}): (reply: Reply) => boolean {
  let repairs = before
  return ({ text }) => {
    const checked = check(text)
    if ('value' in checked) {
      take(checked.value)
      return true
    }
    if (repairs >= retries) {
      throw new Stopped({ ending: { status: 'failed', cause: 'output_schema' }, reason: `Its answer does not fit the output schema: ${checked.errors}` })
    }
    repairs += 1
    mailbox.owe(reminder({ text: `Your answer does not fit the output schema: ${checked.errors}\nAnswer again with JSON that fits it, and nothing else.`, from: 'schema' }))
    return false
  }
}
