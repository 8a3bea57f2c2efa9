import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { MIN_SECRET_CHARS } from '../../src/core/secrets.ts'
import { REDACTED, redactor } from '../../src/journal/redact.ts'
import { call, callEnded, ended, event, newJournal, sent, started, turnEnded } from './story.ts'

/** All that is on the disk for a journal. */
const bytesOf = (file: string): string =>
  readdirSync(dirname(file)).map((name) => readFileSync(join(dirname(file), name)).toString('latin1')).join('\n')

/** Every text in a value, keys too, and every text in any JSON that a text holds. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    try {
      const inner: unknown = JSON.parse(value)
      return typeof inner === 'object' || typeof inner === 'string' ? [value, ...textsIn(inner)] : [value]
    } catch {
      return [value]
    }
  }
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]) : []
}

describe('JRN-08: keys are in no event and no record', () => {
  const secrets = ['sk-ant-api03-Zm9vYmFy', 'zebra"quartz\\nimbus\tvortex\nplinth']

  test('wherever they stand: in texts, inputs, keys, JSON within JSON, addresses; on the disk and in what append gives back', async () => {
    const journal = newJournal({ redact: secrets })
    const places = secrets.flatMap((secret) => [
      event(sent(`the key is ${secret}, twice: ${secret}`)),
      event(turnEnded(1, secret, [{
        ...call('c1', 'web_fetch'),
        input: { url: `https://x.test/?key=${encodeURIComponent(secret)}`, headers: { [secret]: `Bearer ${secret}` } },
      }])),
      event(callEnded(1, call('c1'), JSON.stringify({ stdout: JSON.stringify({ env: secret }) }))),
      event(started({ prompt: secret, title: secret })),
      event(ended({ output: secret }), { key: `item ${secret}` }),
    ])
    const written = await journal.append(places)
    const disk = bytesOf(journal.file)
    for (const secret of secrets) {
      expect(secret.split(/["\\\t\n]/).filter((piece) => disk.includes(piece))).toEqual([])
      expect(textsIn(written).filter((text) => text.includes(secret))).toEqual([])
      const found = journal.findByKey(`item ${secret}`)
      expect(found?.type === 'delegation.ended' && found.data.result.output).toBe(REDACTED)
    }
    expect([...journal.events()]).toEqual(written)
    expect(written[0]?.data).toEqual({ text: `the key is ${REDACTED}, twice: ${REDACTED}`, from: 'user' })
  })

  test('a text that only looks like an escape of it is left alone, and stays JSON', () => {
    const redact = redactor(['nabcdefgh'])
    expect(JSON.parse(redact(JSON.stringify({ text: '\nabcdefgh', other: 'nabcdefgh' })))).toEqual({ text: '\nabcdefgh', other: REDACTED })
  })

  test('placeholder keys of local servers garble nothing', () => {
    expect('ollama'.length).toBeLessThan(MIN_SECRET_CHARS)
    expect(redactor(['ollama', '', 'none'])('{"model":"ollama/llama3"}')).toBe('{"model":"ollama/llama3"}')
  })

  test('for any secret and any data: no text holds it, and what does not hold it is unchanged', () => {
    const secret = fc.string({ unit: 'grapheme-composite', minLength: MIN_SECRET_CHARS, maxLength: 20 })
      .filter((text) => text.length >= MIN_SECRET_CHARS && !REDACTED.includes(text) && !text.includes('['))
    const withSecret = secret.chain((value) => {
      const { tree } = fc.letrec((tie) => ({
        leaf: fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.string({ unit: 'grapheme' }).map((text) => `${text}${value}${text}`),
          fc.constant(value),
          fc.integer(),
        ),
        tree: fc.oneof(
          { maxDepth: 4 },
          tie('leaf'),
          fc.array(tie('tree'), { maxLength: 3 }),
          fc.dictionary(fc.string(), tie('tree'), { maxKeys: 3 }),
          tie('tree').map((inner) => JSON.stringify(inner)),
        ),
      }))
      return fc.tuple(fc.constant(value), fc.record({ tree }))
    })
    fc.assert(fc.property(withSecret, ([value, data]) => {
      const before = JSON.stringify(data)
      const after = redactor([value])(before)
      const left = textsIn(JSON.parse(after))
      expect(left.filter((text) => text.includes(value))).toEqual([])
      if (!textsIn(JSON.parse(before)).some((text) => text.includes(value))) expect(after).toBe(before)
    }), { numRuns: 300 })
  })
})
