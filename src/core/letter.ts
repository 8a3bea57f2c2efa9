import type { Message } from './contract.ts'
import type { Sender } from './events.ts'

/** A message on its way to an agent; from `result`: a notice (DEL-01). */
export type Letter = { readonly text: string; readonly from: Sender | 'result' }

/** As its model sees it: what the user says is the user's, all else is marked with what it is. */
export const letterMessage = ({ text, from }: Letter): Message =>
  from === 'user' ? { role: 'user', text } : { role: 'user', text, synthetic: SYNTHETIC[from] ?? 'reminder' }

const SENT_BY_PARENT = 'Message from the agent that started you:\n'

/** STR-02. */
export const letterOfParent = (message: string): Letter & { readonly from: Sender } => ({ from: 'parent', text: `${SENT_BY_PARENT}${message}` })

/** Of what an agent has not read: the words of whoever started it, the user for a root run (STR-03). */
export const undelivered = (unread: readonly Letter[], { depth }: { readonly depth: number }): readonly string[] => unread
  .filter(({ from }) => from === (depth === 0 ? 'user' : 'parent'))
  .map(({ text }) => (text.startsWith(SENT_BY_PARENT) ? text.slice(SENT_BY_PARENT.length) : text))

const SYNTHETIC: Partial<Record<Letter['from'], string>> = { parent: 'message', result: 'task_notification' }
