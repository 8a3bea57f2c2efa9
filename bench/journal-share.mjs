// Preloaded into Cadre: how long its main thread is inside SQLite, in ms, into the file that CADRE_BENCH_JOURNAL names.
import { writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

const file = process.env.CADRE_BENCH_JOURNAL
delete process.env.CADRE_BENCH_JOURNAL
if (isMainThread && file) {
  let ms = 0
  for (const [type, name] of [[StatementSync, 'run'], [StatementSync, 'get'], [StatementSync, 'all'], [DatabaseSync, 'exec'], [DatabaseSync, 'prepare']]) {
    const own = type.prototype[name]
    type.prototype[name] = function (...args) {
      const began = performance.now()
      try {
        return own.apply(this, args)
      } finally {
        ms += performance.now() - began
      }
    }
  }
  process.on('exit', () => writeFileSync(file, JSON.stringify({ ms })))
}
