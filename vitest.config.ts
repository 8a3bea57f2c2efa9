import { defineConfig } from 'vitest/config'

const STRESS = 'test/**/*.stress.test.ts'

/** `npm test` runs the project `tests`; what needs minutes rather than seconds (large trees, floods, fuzzing) is in `stress`. */
export default defineConfig({
  test: {
    globalSetup: 'test/bundle.ts',
    pool: 'forks',
    isolate: false, // a new process and a new import of everything per file costs more than most files' tests
    maxWorkers: 2, // tests start threads and processes of their own: more would only slow each other down
    testTimeout: 60_000, // no test asserts speed: a slow machine must not fail one
    hookTimeout: 60_000,
    allowOnly: false,
    projects: [
      { extends: true, test: { name: 'tests', include: ['test/**/*.test.ts'], exclude: [STRESS] } },
      { extends: true, test: { name: 'stress', include: [STRESS] } },
    ],
  },
})
