import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2, // tests start threads and processes of their own: more would only slow each other down
    testTimeout: 60_000, // no test asserts speed: a slow machine must not fail one
    hookTimeout: 60_000,
    allowOnly: false,
  },
})
