import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, VERIFY_COMMAND } from '../../src/verify/command.ts'
import { treeHash } from '../../src/verify/tree-hash.ts'

/** Bytes that may come on top while gigabytes pass through: what the collector has not looked at yet. */
const FLAT = 100_000_000

/** The most memory that was held on top of what was there before, in bytes. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  const held = () => {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = held()
  let peak = before
  const look = setInterval(() => {
    peak = Math.max(peak, held())
  }, 5)
  await work()
  clearInterval(look)
  return peak - before
}

test('VER-01: a verify command that writes gigabytes takes no memory, and its end is kept', async () => {
  const peak = await peakOf(async () => {
    const { ok, output } = await runCommand('head -c 2200000000 /dev/zero | tr "\\0" x; echo; echo done', { root: tmpdir(), env: process.env, signal: new AbortController().signal })
    expect({ ok, end: output.slice(-7) }).toEqual({ ok: true, end: 'x\ndone\n' })
    expect(output).toHaveLength(VERIFY_COMMAND.outputCharacters)
  })
  expect(peak).toBeLessThan(FLAT)
})

test('VER-06: a changed file of gigabytes is hashed without being held', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cadre-flood-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'huge'), '')
  truncateSync(join(root, 'huge'), 2_200_000_000)
  expect(await peakOf(async () => void (await treeHash(root, ['huge'])))).toBeLessThan(FLAT)
})
