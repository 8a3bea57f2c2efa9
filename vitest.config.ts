import { defineConfig } from 'vitest/config'

const STRESS = 'test/**/*.stress.test.ts'
const SOAK = 'test/**/*.soak.test.ts'
/** Stress tests that take more cases in `soak`. */
const LONGER = ['test/crew/crash/crash.stress.test.ts', 'test/agents/large-trees.stress.test.ts', 'test/tools/web-fetch.stress.test.ts']

const shared = {
  isolate: false, // a new process and a new import of everything per file costs more than most files' tests
  testTimeout: 120_000, // no test asserts speed: a slow machine must not fail one
  hookTimeout: 60_000,
} as const

/** `npm test` runs the project `tests`; what needs minutes rather than seconds (large trees, floods, fuzzing) is in `stress`, and what kills a process at every step it takes in `soak`. */
export default defineConfig({
  test: {
    globalSetup: 'test/bundle.ts',
    pool: 'forks',
    maxWorkers: 2, // tests start threads and processes of their own: more would only slow each other down
    allowOnly: false,
    projects: [
      { test: { ...shared, name: 'tests', include: ['test/**/*.test.ts'], exclude: [STRESS, SOAK] } },
      { test: { ...shared, name: 'stress', include: [STRESS] } },
      { test: { ...shared, name: 'soak', include: [SOAK, ...LONGER] } },
    ],
  },
})
