import { wrap } from 'comlink'

import type { ThreadHost } from '../src/core/thread.ts'
import { readFunctions } from '../src/tools/reading/index.ts'
import { sealGlobals } from './seal-globals.ts'
import { threadEntry } from './thread-entry.ts'

/** The entry of an agent's thread; `src/threads` starts it by URL. Reaches the main side through its port only, and there through the guard. */
export const { run, calls, ready } = threadEntry(readFunctions, (port) => wrap<ThreadHost>(port), sealGlobals())
