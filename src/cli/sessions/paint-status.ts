import type { Style } from '../style.ts'

/** The colour of a status: good, bad, or under way. */
export function paintStatus(status: string, { paint }: Style): (text: string) => string {
  if (status === 'completed') return paint.green
  if (status === 'failed' || status === 'killed' || status === 'lost' || status === 'interrupted') return paint.red
  return paint.yellow
}
