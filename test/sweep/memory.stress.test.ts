import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('fixtures/large-sweep.ts', import.meta.url))
const MB = 1_000_000

test('CMD-12 memory does not grow with the results: 2,500 of 30 KB leave the heap within 8 MB of where 500 had it', async () => {
  const out = mkdtempSync(join(tmpdir(), 'cadre-sweep-test-'))
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT, '2500', out])
    const { early, late, done } = JSON.parse(stdout)
    expect(done).toBe(2_500)
    expect(statSync(join(out, 'results.jsonl')).size).toBeGreaterThan(70 * MB)
    expect(late - early).toBeLessThan(8 * MB)
    expect(JSON.parse(readFileSync(join(out, 'report.sarif'), 'utf8')).runs[0].results).toHaveLength(250_000)
    expect(statSync(join(out, 'report.md')).size).toBeLessThan(4 * MB)
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}, 60_000)
