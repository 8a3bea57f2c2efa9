import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { journalProblems } from '../../src/journal/integrity.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { event, newJournal, sent, tempFolder } from './story.ts'

describe('CMD-09: what doctor says about a journal', () => {
  test('nothing about a sound one, also while it is written', async () => {
    const journal = newJournal()
    await journal.append([event(sent('fine'))])
    expect(journalProblems(journal.file)).toEqual([])
  })

  test('that it is damaged, open to others, or not there', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const journal = openJournal({ file, sync: 'normal' })
    await journal.append(Array.from({ length: 500 }, (_, n) => event(sent(`${n} ${'x'.repeat(200)}`))))
    await journal.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xaa, 40_000, 80_000))
    expect(journalProblems(file).length).toBeGreaterThan(0)
    chmodSync(file, 0o644)
    expect(journalProblems(file)).toContain('others may read it (mode 644)')
    expect(journalProblems(`${file}.missing`)).toEqual([expect.stringMatching(/^it cannot be read: /)])
  })
})
