import { fileURLToPath } from 'node:url'

/** The build under test: a folder of its own, so that no test run disturbs who uses `dist`. */
export const BUILT = fileURLToPath(new URL('../.cache/test-build', import.meta.url))
