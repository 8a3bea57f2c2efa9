import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { liveSettings } from '../../src/settings/live.ts'

test('SET-02: settings follow their files; a file that is not JSON keeps its last good version and is told once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const file = join(home, 'settings.json')
  mkdirSync(home)
  mkdirSync(join(folder, 'project'))
  const told: Diagnostic[] = []
  const live = liveSettings({ root: join(folder, 'project'), home, env: { HOME: folder }, managedFile: join(folder, 'none.json'), onDiagnostic: (found) => void told.push(found) })
  const write = async (text: string) => {
    writeFileSync(file, text)
    await delay(600)
  }
  expect(live.current().settings.limits.maxTurns).toBe(50)
  await write('{"limits": {"maxTurns": 7}}')
  expect(live.current().settings.limits.maxTurns).toBe(7)
  await write('{"limits": {"maxTurns": 8}')
  expect(live.current().settings.limits.maxTurns).toBe(7)
  expect(told).toHaveLength(1)
  await write('{"limits": {"maxTurns": 9}, "unknwon": 1}')
  await delay(600)
  expect(live.current().settings.limits.maxTurns).toBe(9)
  expect(live.current()).toBe(live.current())
  expect(told).toHaveLength(2)
})
