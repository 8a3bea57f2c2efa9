import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { ls } from './ls.ts'
import { read } from './read.ts'

export { hashFile } from './reads.ts'

/** The read tools' functions by tool name: what an agent's thread runs. Inputs are checked by the main side before they get here. */
export const readFunctions = { read, ls, glob, grep } as const
