import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { Message } from '../../src/core/contract.ts'
import type { EventBody } from '../../src/core/events.ts'
import { call, callEnded, callStarted, ended, event, newJournal, noticed, queued, sent, started, summed, turnEnded, turnStarted } from './story.ts'

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

const user = (text: string, synthetic?: string): Message => ({ role: 'user', text, ...(synthetic !== undefined && { synthetic }) })
const said = (text: string, calls: readonly (typeof a)[] = []): Message => ({ role: 'assistant', text, calls })
const unanswered = ({ id, name }: typeof a) => ({ callId: id, tool: name, ok: false, text: 'Error: the run ended before this call was answered.' })

describe('DEL-01, STR-02: what comes for an agent', () => {
  test('is read at its next turn in the order it came, notices among it, before what the turn adds', async () => {
    expect(await transcript(
      started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, '', [a]), sent('From the user.'), noticed('sa-1'), callEnded(1, a),
      sent('From the parent.', 'parent'), noticed('sa-2'), sent('Repeating.', 'repeating'), turnStarted(2, ['Last turn.']), turnEnded(2, 'Done.'),
    )).toEqual([
      user('Go.'), said('', [a]), { role: 'tool', outcomes: [outcome(a)] },
      user('From the user.'), user('notice of sa-1', 'task_notification'), user('From the parent.', 'message'),
      user('notice of sa-2', 'task_notification'), user('Repeating.', 'reminder'), user('Last turn.', 'reminder'), said('Done.'),
    ])
  })

  test('JRN-03: between an interrupted turn and its second start belongs to that turn, and nothing of it is there twice', async () => {
    expect(await transcript(
      started({ prompt: 'Go.' }), sent('One.'), turnStarted(1, ['Last turn.']),
      started({ prompt: 'Go.' }), sent('Goes on.', 'resumed'), turnStarted(1), turnEnded(1, 'Done.'), ended(),
    )).toEqual([user('Go.'), user('One.'), user('Last turn.', 'reminder'), user('Goes on.', 'reminder'), said('Done.')])
  })

  test('JRN-05: too late for the last turn of a run is read by the first turn of the next one, after answers to calls left open', async () => {
    const first = [started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'Two.', [a, b]), callEnded(1, b), sent('Too late?'), ended({ status: 'partial' })]
    expect(await transcript(...first)).toEqual([user('Go.'), said('Two.', [a, b]), { role: 'tool', outcomes: [outcome(b)] }])
    expect(await transcript(...first, started({ prompt: 'Go.' }), sent('More.'), turnStarted(2), turnEnded(2, 'Yes.'))).toEqual([
      user('Go.'), said('Two.', [a, b]), { role: 'tool', outcomes: [unanswered(a), outcome(b)] }, user('Too late?'), user('More.'), said('Yes.'),
    ])
  })
})

describe('PRO-08: a summary stands for the turns up to one', () => {
  const turns = [
    started({ prompt: 'Go.' }), turnStarted(1), turnEnded(1, 'one', [a]), callEnded(1, a),
    sent('Hurry.'), turnStarted(2), turnEnded(2, 'two', [b]), callEnded(2, b),
    turnStarted(3), turnEnded(3, 'three', [c]), callEnded(3, c),
  ]
  const [one, two, three] = [[said('one', [a])], [user('Hurry.'), said('two', [b])], [said('three', [c])]]
  const of = (call: typeof a): Message => ({ role: 'tool', outcomes: [outcome(call)] })

  test('in what its model sees from that turn on; the whole can still be had', async () => {
    const journal = newJournal()
    await journal.append([...turns, turnStarted(4, ['Soon.'], summed(1)), turnEnded(4, 'four')].map((body) => event(body)))
    expect(journal.transcript('sa-root')).toEqual([
      user('Go.'), user('summary of 1', 'summary'), ...two, of(b), ...three, of(c), user('Soon.', 'reminder'), said('four'),
    ])
    expect(journal.transcript('sa-root', { full: true })).toEqual([
      user('Go.'), ...one, of(a), ...two, of(b), ...three, of(c), user('Soon.', 'reminder'), said('four'),
    ])
  })

  test('a later summary takes the place of an earlier one', async () => {
    expect(await transcript(...turns, turnStarted(4, [], summed(1)), turnEnded(4, 'four'), turnStarted(5, [], summed(3)), turnEnded(5, 'five')))
      .toEqual([user('Go.'), user('summary of 3', 'summary'), said('four'), said('five')])
  })

  test('a turn that began with one, was interrupted, and began again without one, keeps it', async () => {
    expect(await transcript(...turns, turnStarted(4, [], summed(3)), started({ prompt: 'Go.' }), turnStarted(4), turnEnded(4, 'four')))
      .toEqual([user('Go.'), user('summary of 3', 'summary'), said('four')])
  })
})

describe('what a conversation begins with', () => {
  const child = (agent: string, parent = 'sa-root') => ({ agent, parent })
  const other = { agent: 'sa-1', parent: 'sa-root' }

  test('STR-08: continued, the whole of the other one, and of the one before that, with answers to the calls it left open', async () => {
    const journal = newJournal()
    await journal.append([
      event(started({ prompt: 'First.' }), other), event(turnStarted(1), other), event(turnEnded(1, 'one', [a])), event(turnEnded(1, 'one', [a, b, c]), other),
      event(callEnded(1, b), other), event(sent('Never read.', 'parent'), other), event(ended({ status: 'killed', cause: 'user' }), other),
      event(queued({ prompt: 'Second.', origin: { kind: 'continue', agent: 'sa-1' } }), child('sa-2')),
      event(started({ prompt: 'Second.', origin: { kind: 'continue', agent: 'sa-1' } }), child('sa-2')),
      event(turnStarted(1), child('sa-2')), event(turnEnded(1, 'two'), child('sa-2')), event(ended(), child('sa-2')),
      event(started({ prompt: 'Third.', origin: { kind: 'continue', agent: 'sa-2' } }), child('sa-3')), event(turnStarted(1), child('sa-3')),
    ])
    const first = [user('First.'), said('one', [a, b, c]), { role: 'tool', outcomes: [unanswered(a), outcome(b), unanswered(c)] }]
    expect(journal.transcript('sa-2')).toEqual([...first, user('Second.'), said('two')])
    expect(journal.transcript('sa-3')).toEqual([...first, user('Second.'), said('two'), user('Third.')])
    expect(journal.restore('sa-3')).toMatchObject({ beginning: 6, turn: 0, asked: true })
  })

  test('KIN-02: forked, its parent\'s up to the call: neither what came after, nor the calls', async () => {
    const journal = newJournal()
    const fork = started({ prompt: 'Look there.', origin: { kind: 'fork', agent: 'sa-root', turn: 2 } })
    await journal.append([
      event(started({ prompt: 'Go.' })), event(turnStarted(1)), event(turnEnded(1, 'one', [a])), event(callEnded(1, a)),
      event(sent('Hurry.')), event(turnStarted(2)), event(turnEnded(2, 'I fork.', [b, c])), event(callEnded(2, c)), event(sent('Later.')),
      event(fork, child('sa-1')), event(turnStarted(1), child('sa-1')),
      event(callEnded(2, b)), event(turnStarted(3, [], summed(2))), event(turnEnded(3, 'three')),
    ])
    const begun = [user('Go.'), said('one', [a]), { role: 'tool', outcomes: [outcome(a)] }, user('Hurry.')]
    expect(journal.transcript('sa-1')).toEqual([...begun, said('I fork.'), user('Look there.')])
    expect(journal.restore('sa-1')?.beginning).toBe(6)
  })

  test('KIN-02: a fork from a turn that said nothing has no empty reply, and one from a summarized conversation has the summary', async () => {
    const journal = newJournal()
    const fork = started({ prompt: 'Look there.', origin: { kind: 'fork', agent: 'sa-root', turn: 3 } })
    await journal.append([
      event(started({ prompt: 'Go.' })), event(turnStarted(1)), event(turnEnded(1, 'one')), event(turnStarted(2)), event(turnEnded(2, 'two')),
      event(turnStarted(3, [], summed(1))), event(turnEnded(3, ' \n', [a])), event(fork, child('sa-1')),
    ])
    expect(journal.transcript('sa-1')).toEqual([user('Go.'), user('summary of 1', 'summary'), said('two'), user('Look there.')])
    expect(journal.transcript('sa-1', { full: true })).toEqual([user('Go.'), said('one'), said('two'), user('Look there.')])
  })

  test('PRO-06: with chosen messages, just those', async () => {
    const messages = [user('Before.'), said('Yes.')]
    expect(await transcript(started({ prompt: 'Go.', origin: { kind: 'messages', messages } }))).toEqual([...messages, user('Go.')])
  })

  test('PRO-08: a summary that stands for it, too, leaves its first message and the agent\'s own prompt', async () => {
    const messages = [user('Before.'), said('Yes.'), user('And?'), said('No.')]
    const story = [started({ prompt: 'Go.', origin: { kind: 'messages', messages } }), turnStarted(1), turnEnded(1, 'one'), turnStarted(2), turnEnded(2, 'two')]
    const rest = [user('summary of 1', 'summary'), said('two')]
    expect(await transcript(...story, turnStarted(3, [], summed(1)))).toEqual([...messages, user('Go.'), ...rest])
    expect(await transcript(...story, turnStarted(3, [], summed(1, { origin: true })))).toEqual([user('Before.'), user('Go.'), ...rest])
  })

  test('only what was there when it began, so that even two that name each other have a beginning', async () => {
    const journal = newJournal()
    const from = (agent: string) => ({ kind: 'continue', agent } as const)
    await journal.append([
      event(started({ prompt: 'First.', origin: from('sa-2') }), child('sa-1')), event(turnEnded(1, 'one'), child('sa-1')),
      event(started({ prompt: 'Second.', origin: from('sa-1') }), child('sa-2')), event(turnEnded(1, 'two'), child('sa-2')),
      event(turnStarted(2), child('sa-1')), event(turnEnded(2, 'more'), child('sa-1')),
    ])
    expect(journal.transcript('sa-1')).toEqual([user('First.'), said('one'), said('more')])
    expect(journal.transcript('sa-2')).toEqual([user('First.'), said('one'), user('Second.'), said('two')])
  })

  test('a chain of a hundred continued agents', async () => {
    const journal = newJournal()
    for (let n = 0; n < 100; n += 1) {
      const origin = n === 0 ? null : { kind: 'continue', agent: `sa-${n - 1}` } as const
      await journal.append([started({ prompt: `${n}`, origin }), turnStarted(1), turnEnded(1, `said ${n}`), ended()].map((body) => event(body, child(`sa-${n}`))))
    }
    expect(journal.transcript('sa-99')).toEqual(Array.from({ length: 100 }, (_, n) => [user(`${n}`), said(`said ${n}`)]).flat())
  })
})
