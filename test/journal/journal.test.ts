import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import type { CadreEvent, NewEvent } from '../../src/core/events.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { ended, event, newJournal, sent, sessionEnded, sessionStarted, started, tempFolder, turnEnded } from './story.ts'

const texts = (events: Iterable<CadreEvent>) => [...events].map(({ type, data }) => (type === 'message.sent' ? data.text : type))

describe('JRN-01: one append-only file', () => {
  test('an event comes back as it went in, with a version and a number that counts up', async () => {
    const journal = newJournal()
    const written = await journal.append([
      event(sent('"quotes", \\ and a lone \ud800'), { key: 'k' }),
      event(started(), { agent: 'sa-1', parent: 'sa-root' }),
    ])
    expect(written.map(({ v, seq }) => [v, seq])).toEqual([[1, 1], [1, 2]])
    expect([...journal.events()]).toEqual(written)
    expect(Object.keys(written[1] ?? {})).toEqual(['v', 'seq', 'time', 'session', 'root', 'agent', 'parent', 'depth', 'type', 'data'])
  })

  test('file and folder are the owner\'s alone, also the log beside the file, also when they were wider before', async () => {
    const folder = join(tempFolder(), 'deep', 'journal')
    const wide = join(tempFolder(), 'wide.sqlite')
    writeFileSync(wide, '', { mode: 0o666 })
    chmodSync(wide, 0o666)
    for (const file of [join(folder, 'new.sqlite'), wide]) {
      await newJournal({ file }).append([event(sent('secret plans'))])
      expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual(['600', '600', '600'])
    }
    expect(modeOf(folder)).toBe('700')
  })

  test('no event can be changed or taken out, not even by hand', async () => {
    const journal = newJournal()
    await journal.append([event(sent('first'))])
    const byHand = new DatabaseSync(journal.file)
    for (const sql of ['UPDATE event SET data = \'{}\'', 'DELETE FROM event', 'UPDATE event SET seq = 7']) {
      expect(() => byHand.exec(sql)).toThrow('the journal is append-only')
    }
    byHand.close()
    expect(texts(journal.events())).toEqual(['first'])
  })

  test('what was journaled is there when the file is opened again', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const before = openJournal({ file, sync: 'full' })
    await before.append([event(sent('kept'))])
    await before.close()
    const again = newJournal({ file })
    await again.append([event(sent('added'))])
    expect([...again.events()].map(({ seq }) => seq)).toEqual([1, 2])
    expect(texts(again.events())).toEqual(['kept', 'added'])
  })

  test('deltas, and what is no event at all, are refused, and the others of the same moment are written', async () => {
    const journal = newJournal()
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const wrong: readonly unknown[] = [
      event({ type: 'delta', data: { kind: 'text', text: 'w' } }),
      { ...event(sent('')), data: cycle },
      { ...event(sent('')), data: undefined },
      { ...event(sent('')), data: [] },
      { ...event(sent('')), time: 1.5 },
      { ...event(sent('')), agent: '' },
      { ...event(sent('')), parent: undefined },
      { ...event(sent('')), session: 7 },
    ]
    const good = journal.append([event(sent('good'))])
    const outcomes = await Promise.allSettled(wrong.map((one) => journal.append([event(sent('with it')), one as NewEvent])))
    const last = journal.append([event(sent('last'))])
    expect(outcomes).toMatchObject(wrong.map(() => ({ status: 'rejected', reason: { code: 'INVARIANT' } })))
    await Promise.all([good, last])
    expect(texts(journal.events())).toEqual(['good', 'last'])
  })
})

describe('JRN-02: written before it is acted on', () => {
  test('an append is seen by another process as soon as it is acknowledged', async () => {
    const journal = newJournal()
    const other = newJournal({ file: journal.file })
    for (let n = 1; n <= 5; n += 1) {
      await journal.append([event(sent(`${n}`))])
      expect([...other.events()]).toHaveLength(n)
    }
  })

  test('the appends of one moment share one transaction, in their order', async () => {
    const journal = newJournal()
    await journal.append([event(sent('before'))])
    const before = commits(journal.file)
    await Promise.all(Array.from({ length: 100 }, (_, n) => journal.append([event(sent(`${n}a`)), event(sent(`${n}b`))])))
    expect(commits(journal.file) - before).toBe(1)
    expect(texts(journal.events())).toEqual(['before', ...Array.from({ length: 100 }, (_, n) => [`${n}a`, `${n}b`]).flat()])
  })

  test('what is queued when the journal closes is written', async () => {
    const file = join(tempFolder(), 'journal.sqlite')
    const journal = openJournal({ file, sync: 'normal' })
    const pending = Array.from({ length: 5_000 }, (_, n) => journal.append([event(sent(`${n}`))]))
    await journal.close()
    await Promise.all(pending)
    expect([...newJournal({ file }).events()]).toHaveLength(5_000)
  })

  test('an empty append is done at once, and a closed journal says so', async () => {
    const journal = openJournal({ file: join(tempFolder(), 'journal.sqlite'), sync: 'normal' })
    expect(await journal.append([])).toEqual([])
    await Promise.all([journal.close(), journal.close()])
    await expect(journal.append([event(sent('late'))])).rejects.toThrow(/is closed/)
    expect(() => journal.sessions()).toThrow(/is closed/)
    expect(() => [...journal.events()]).toThrow(/is closed/)
  })
})

describe('events, found again', () => {
  async function story() {
    const journal = newJournal()
    await journal.append([
      event(sessionStarted()),
      event(started()),
      event(started({ title: 'Child' }), { agent: 'sa-1', parent: 'sa-root' }),
      event(turnEnded(1, 'hello'), { agent: 'sa-1', parent: 'sa-root' }),
      event(sessionStarted('Other'), { session: 'ss-2', agent: 'sa-other' }),
      event(ended({ output: 'first' }), { agent: 'sa-1', parent: 'sa-root', key: 'item-1' }),
      event(ended({ output: 'second' }), { session: 'ss-2', agent: 'sa-other', key: 'item-1' }),
      event(sent('not an end'), { key: 'item-1' }),
      event(sessionEnded()),
    ])
    return journal
  }

  test('by session, agent, type, number and count, in any mix', async () => {
    const journal = await story()
    const seqs = (filter: Parameters<typeof journal.events>[0]) => [...journal.events(filter)].map(({ seq }) => seq)
    expect(seqs({ session: 'ss-1' })).toEqual([1, 2, 3, 4, 6, 8, 9])
    expect(seqs({ agent: 'sa-1' })).toEqual([3, 4, 6])
    expect(seqs({ agent: 'sa-1', session: 'ss-2' })).toEqual([])
    expect(seqs({ types: ['delegation.ended', 'session.started'] })).toEqual([1, 5, 6, 7])
    expect(seqs({ session: 'ss-1', types: ['delegation.started'], afterSeq: 2 })).toEqual([3])
    expect(seqs({ afterSeq: 3, limit: 2 })).toEqual([4, 5])
    expect(seqs({ types: [] })).toEqual([])
    expect(seqs({ limit: 0 })).toEqual([])
    expect(seqs({ session: 'ss-9' })).toEqual([])
    expect(seqs({ agent: '\'; DROP TABLE event; --' })).toEqual([])
  })

  test('the newest end under a key, and nothing else filed under it', async () => {
    const journal = await story()
    const found = journal.findByKey('item-1')
    expect(found?.type === 'delegation.ended' && found.data.result.output).toBe('second')
    expect(journal.findByKey('item-2')).toBeUndefined()
  })

  test('an agent id is known once it was queued or started (AGT-04)', async () => {
    const journal = await story()
    expect(['sa-root', 'sa-1', 'sa-2', 'sa-'].map((id) => journal.hasAgent(id))).toEqual([true, true, false, false])
  })

  test('a walk through many events may be left, and may write on the way without meeting what it wrote', async () => {
    const journal = newJournal()
    await journal.append(Array.from({ length: 1_000 }, (_, n) => event(sent(`${n}`))))
    let walked = 0
    for (const { seq } of journal.events({ session: 'ss-1' })) {
      walked += 1
      expect(seq).toBe(walked)
      if (walked % 200 === 0) await journal.append([event(sent('on the way'))])
    }
    expect(walked).toBe(1_000)
    for (const { seq } of journal.events()) if (seq === 3) break
    expect([...journal.events({ afterSeq: 1_000 })]).toHaveLength(5)
    expect([...journal.events({ limit: 300 })]).toHaveLength(300)
  })
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Transactions in a write-ahead log, told by its frames: one that ends a transaction says how large the file became. */
function commits(file: string): number {
  const log = readFileSync(`${file}-wal`)
  const pageSize = log.readUInt32BE(8)
  let count = 0
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) if (log.readUInt32BE(at + 4) > 0) count += 1
  return count
}
