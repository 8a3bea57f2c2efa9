import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGate, createGates } from '../../src/schedule/gate.ts'
import type { Gate, Hold, Writer } from '../../src/schedule/gate.ts'

const forever = new AbortController().signal
const writer = (agent: string, ...ancestors: string[]): Writer => ({ agent, title: `title of ${agent}`, ancestors })
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Enters, and tells in `order` when it is in. */
function coming(gate: Gate, who: Writer, order: string[], signal = forever): Promise<Hold> {
  return gate.enter(who, signal).then((hold) => {
    order.push(who.agent)
    return hold
  })
}

describe('KIN-04: one writer in a root', () => {
  test('others wait in order of asking, and the one inside is known', async () => {
    const gate = createGate()
    const order: string[] = []
    const first = await coming(gate, writer('a'), order)
    const [b, c] = [coming(gate, writer('b'), order), coming(gate, writer('c'), order)]
    await settled()
    expect([gate.holder?.agent, gate.waiting, gate.take(writer('d'))]).toEqual(['a', 2, null])
    first.leave()
    first.leave()
    ;(await b).leave()
    ;(await c).leave()
    expect([order, gate.holder, gate.waiting]).toEqual([['a', 'b', 'c'], null, 0])
  })

  test('each root has its own', () => {
    const gateOf = createGates()
    expect(gateOf('/one').take(writer('a'))).not.toBeNull()
    expect(gateOf('/two').take(writer('b'))).not.toBeNull()
    expect(gateOf('/one').take(writer('c'))).toBeNull()
  })

  test('one that is stopped while it waits is passed over', async () => {
    const gate = createGate()
    const order: string[] = []
    const first = await coming(gate, writer('a'), order)
    const stop = new AbortController()
    const b = coming(gate, writer('b'), order, stop.signal)
    const c = coming(gate, writer('c'), order)
    stop.abort(new Error('stopped'))
    await expect(b).rejects.toThrow('stopped')
    first.leave()
    await c
    expect(order).toEqual(['a', 'c'])
    await expect(gate.enter(writer('d'), stop.signal)).rejects.toThrow('stopped')
  })
})

describe('KIN-05: who is blocked on its children lends it to them', () => {
  test('to them alone, one after the other, and has it back before the next one', async () => {
    const gate = createGate()
    const order: string[] = []
    const parent = await coming(gate, writer('a'), order)
    const stranger = coming(gate, writer('z'), order)
    const [one, two] = [coming(gate, writer('a1', 'a'), order), coming(gate, writer('a2', 'a'), order)]
    await settled()
    expect(order).toEqual(['a'])
    parent.lend()
    const held = await one
    const back = parent.reclaim().then(() => order.push('a again'))
    held.leave()
    await back
    await settled()
    expect(order).toEqual(['a', 'a1', 'a again'])
    parent.lend()
    ;(await two).leave()
    await parent.reclaim()
    parent.leave()
    ;(await stranger).leave()
    expect(order).toEqual(['a', 'a1', 'a again', 'a2', 'z'])
  })

  test('a reader between two writers changes nothing: a grandchild may write too', async () => {
    const gate = createGate()
    const parent = await gate.enter(writer('a'), forever)
    parent.lend()
    const grandchild = gate.take(writer('a1x', 'a1', 'a'))
    expect(grandchild).not.toBeNull()
    grandchild?.leave()
    await parent.reclaim()
    parent.leave()
  })

  test('a parent that ends while its child still holds it takes nothing from the child', async () => {
    const gate = createGate()
    const parent = await gate.enter(writer('a'), forever)
    parent.lend()
    const child = await gate.enter(writer('a1', 'a'), forever)
    const back = parent.reclaim()
    parent.leave()
    await back
    expect([gate.holder?.agent, gate.take(writer('z'))]).toEqual(['a1', null])
    child.leave()
    expect(gate.take(writer('z'))).not.toBeNull()
  })
})

test('trees of writers of any shape finish, and no two write at once unless one waits for the other', async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 6 }), async (trees) => {
    const gate = createGate()
    const writing: string[] = []
    let ended = 0
    const grow = async (who: Writer, levels: number, width: number): Promise<void> => {
      const hold = await gate.enter(who, forever)
      const write = async () => {
        writing.push(who.agent)
        expect(writing).toEqual([who.agent])
        await settled()
        expect(writing).toEqual([who.agent])
        writing.pop()
      }
      await write()
      if (levels > 0) {
        await Promise.all(Array.from({ length: width }, async (_, i) => {
          hold.lend()
          await grow(writer(`${who.agent}.${i}`, who.agent, ...who.ancestors), levels - 1, width)
          await hold.reclaim()
        }))
        await write()
      }
      hold.leave()
      ended += 1
    }
    await Promise.all(trees.map(([levels, width], i) => grow(writer(`t${i}`), levels, width)))
    expect(ended).toBeGreaterThanOrEqual(trees.length)
    expect([gate.holder, gate.waiting]).toEqual([null, 0])
  }), { numRuns: 50 })
})
