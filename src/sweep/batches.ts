import type { SweepItem } from './contract.ts'

/** The items of one agent. `index` counts batches in the order of the items. */
export type Batch = { readonly index: number; readonly items: readonly SweepItem[] }

const TITLE_CHARS = 60

/** The items in groups of `size`; the last may be smaller. */
export const toBatches = (items: readonly SweepItem[], size: number): readonly Batch[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => ({ index, items: items.slice(index * size, (index + 1) * size) }))

/** What an agent is called: its item, a long one by its end, which tells more of a path. At most 60 characters (AGT-04). */
export function titleOf(items: readonly SweepItem[]): string {
  const more = items.length > 1 ? ` and ${items.length - 1} more` : ''
  const room = TITLE_CHARS - more.length
  const first = items[0]?.item.replaceAll(/\s+/g, ' ').trim() ?? ''
  return (first.length > room ? `…${first.slice(1 - room)}` : first) + more
}
