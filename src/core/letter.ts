import type { Message } from './contract.ts'
import type { Sender } from './events.ts'

/** A message on its way to an agent; from `result`: a notice (DEL-01). */
export type Letter = { readonly text: string; readonly from: Sender | 'result' }

/** As its model sees it: what the user says is the user's, all else is marked with what it is. */
export const letterMessage = ({ text, from }: Letter): Message =>
  from === 'user' ? { role: 'user', text } : { role: 'user', text, synthetic: SYNTHETIC[from] ?? 'reminder' }

const SYNTHETIC: Partial<Record<Letter['from'], string>> = { parent: 'message', result: 'task_notification' }
