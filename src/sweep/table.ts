import type { SweepItem } from './contract.ts'

/** Items in the order they were given, and every column any of them has. */
export type Table = { readonly items: readonly SweepItem[]; readonly columns: readonly string[] }
