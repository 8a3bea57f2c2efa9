import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Library from '../src/index.ts'
import type { Bench } from './bench.ts'

/** The library as built. */
export const library = (dist: Bench['dist']): Promise<typeof Library> => import(pathToFileURL(join(dist, 'src', 'index.js')).href)

/** The file an agent's thread starts with, as built. */
export const workerEntry = (dist: Bench['dist']): URL => pathToFileURL(join(dist, 'sandbox', 'worker.js'))
