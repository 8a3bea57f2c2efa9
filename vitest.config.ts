import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2, // tests start threads and processes of their own: more would only slow each other down
    testTimeout: 20_000,
    hookTimeout: 30_000,
    allowOnly: false,
  },
})
