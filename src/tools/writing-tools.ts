import { bash } from './bash.ts'
import type { Tool } from './define-tool.ts'
import { edit } from './edit.ts'
import { memory } from './memory.ts'
import { todo } from './todo.ts'
import { webFetch } from './web-fetch.ts'
import { write } from './write.ts'

/** The tools that do more than read, in the order models are shown them. */
export const WRITING_TOOLS: readonly Tool[] = [write, edit, bash, webFetch, memory, todo]
