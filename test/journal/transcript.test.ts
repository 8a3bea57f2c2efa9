import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { Message } from '../../src/core/contract.ts'
import type { EventBody } from '../../src/core/events.ts'
import { call, callEnded, callStarted, ended, event, newJournal, queued, sent, started, turnEnded, turnStarted } from './story.ts'

async function transcript(...bodies: readonly EventBody[]): Promise<readonly Message[]> {
  const journal = newJournal()
  await journal.append(bodies.map((body) => event(body)))
  return journal.transcript('sa-root')
}

const [a, b, c] = [call('a'), call('b', 'grep'), call('c')]
const outcome = ({ id, name }: typeof a, text = `outcome of ${id}`) => ({ callId: id, tool: name, ok: true, text })

describe('a transcript is the conversation as the model saw it (JRN-08, STR-02)', () => {
  test('prompt, replies and outcomes, outcomes in the order of the calls however they came in', async () => {
    expect(await transcript(
      queued({ prompt: 'Find it.' }), started({ prompt: 'Find it.' }),
      turnStarted(1), turnEnded(1, 'I look.', [a, b], { opaque: { signature: 'x' } }),
      callStarted(1, a), callStarted(1, b), callEnded(1, b), callEnded(1, a),
      turnStarted(2), turnEnded(2, 'Found.'),
      ended(),
    )).toEqual([
      { role: 'user', text: 'Find it.' },
      { role: 'assistant', text: 'I look.', calls: [a, b], opaque: { signature: 'x' } },
      { role: 'tool', outcomes: [outcome(a), outcome(b)] },
      { role: 'assistant', text: 'Found.', calls: [] },
    ])
  })

  test('a message joins at the turn that read it, after the outcomes; one that came too late is not part of it', async () => {
    expect(await transcript(
      started({ prompt: 'Go.' }),
      turnStarted(1), turnEnded(1, '', [a]), sent('Also look there.'), callEnded(1, a), sent('Hurry.', 'parent'),
      turnStarted(2, ['This is your last turn.']), turnEnded(2, 'Not JSON'), sent('Answer again.', 'schema'),
      turnStarted(3), turnEnded(3, '{}'), sent('Too late.'), ended(),
    )).toEqual([
      { role: 'user', text: 'Go.' },
      { role: 'assistant', text: '', calls: [a] },
      { role: 'tool', outcomes: [outcome(a)] },
      { role: 'user', text: 'Also look there.' },
      { role: 'user', text: 'Hurry.', synthetic: 'message' },
      { role: 'user', text: 'This is your last turn.', synthetic: 'reminder' },
      { role: 'assistant', text: 'Not JSON', calls: [] },
      { role: 'user', text: 'Answer again.', synthetic: 'reminder' },
      { role: 'assistant', text: '{}', calls: [] },
    ])
  })

  test('JRN-03: after a crash it ends with the reply whose calls have no outcomes, and a resumed run goes on from there', async () => {
    const crashed = [started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'Two.', [a, b]), callEnded(1, a, 'from before')]
    expect(await transcript(...crashed)).toEqual([
      { role: 'user', text: 'Go.' },
      { role: 'assistant', text: 'Two.', calls: [a, b] },
      { role: 'tool', outcomes: [outcome(a, 'from before')] },
    ])
    const again = [callEnded(1, a, 'again'), callEnded(1, b)]
    const resumed = [started({ prompt: 'Go.' }), ...again, turnStarted(2), turnStarted(2), turnEnded(2, 'Ok.')]
    expect(await transcript(...crashed, ...resumed)).toEqual([
      { role: 'user', text: 'Go.' },
      { role: 'assistant', text: 'Two.', calls: [a, b] },
      { role: 'tool', outcomes: [outcome(a, 'again'), outcome(b)] },
      { role: 'assistant', text: 'Ok.', calls: [] },
    ])
  })

  test('other agents\' events are not in it, and an agent nobody knows has none', async () => {
    const journal = newJournal()
    await journal.append([
      event(started({ prompt: 'Parent.' })),
      event(started({ prompt: 'Child.' }), { agent: 'sa-1', parent: 'sa-root' }),
      event(turnEnded(1, 'child speaks'), { agent: 'sa-1', parent: 'sa-root' }),
      event(turnEnded(1, 'parent speaks')),
    ])
    expect(journal.transcript('sa-1')).toEqual([{ role: 'user', text: 'Child.' }, { role: 'assistant', text: 'child speaks', calls: [] }])
    expect(journal.transcript('sa-9')).toEqual([])
  })

  test('any run, whatever the order its outcomes came in, reads as it was held', async () => {
    const shuffle = fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100))
    const turn = fc.record({ calls: fc.nat(3), texts: fc.array(fc.string(), { maxLength: 2 }), shuffle })
    const journal = newJournal()
    let runs = 0
    await fc.assert(fc.asyncProperty(fc.array(turn, { maxLength: 6 }), async (turns) => {
      const agent = `sa-${runs += 1}`
      const held: Message[] = [{ role: 'user', text: 'Go.' }]
      const bodies: EventBody[] = [started({ prompt: 'Go.' })]
      for (const [n, { calls, texts, shuffle }] of turns.entries()) {
        for (const text of texts) {
          bodies.push(sent(text))
          held.push({ role: 'user', text })
        }
        const asked = [a, b, c].slice(0, calls).map((one) => ({ ...one, id: `${one.id}${n}` }))
        bodies.push(turnStarted(n + 1), turnEnded(n + 1, `turn ${n}`, asked))
        held.push({ role: 'assistant', text: `turn ${n}`, calls: asked })
        const place = (one: typeof a) => shuffle[asked.indexOf(one)] ?? 0
        bodies.push(...asked.toSorted((x, y) => place(x) - place(y)).map((one) => callEnded(n + 1, one)))
        if (asked.length > 0) held.push({ role: 'tool', outcomes: asked.map((one) => outcome(one)) })
      }
      await journal.append(bodies.map((body) => event(body, { agent })))
      expect(journal.transcript(agent)).toEqual(held)
    }))
  })
})
