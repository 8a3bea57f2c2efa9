import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSlots } from '../../src/schedule/slots.ts'
import type { Slot } from '../../src/schedule/slots.ts'

const forever = new AbortController().signal
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('KIN-07: at most so many agents run, further ones wait in order', () => {
  test('places are handed on first come, first served', async () => {
    const slots = createSlots({ running: 2 })
    const order: number[] = []
    const first = await Promise.all([slots.enter(forever), slots.enter(forever)])
    const rest = [1, 2, 3].map(async (n) => {
      const slot = await slots.enter(forever)
      order.push(n)
      slot.leave()
    })
    expect([slots.running, slots.queued, slots.isFull()]).toEqual([2, 3, true])
    for (const slot of first) slot.leave()
    await Promise.all(rest)
    expect(order).toEqual([1, 2, 3])
    expect([slots.running, slots.queued]).toEqual([0, 0])
  })

  test('one that is stopped while it waits leaves the queue', async () => {
    const slots = createSlots({ running: 1 })
    const held = await slots.enter(forever)
    const stopping = new AbortController()
    const waiting = slots.enter(stopping.signal)
    stopping.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    expect(slots.queued).toBe(0)
    held.leave()
    expect(slots.running).toBe(0)
  })

  test('leaving twice frees one place', async () => {
    const slots = createSlots({ running: 2 })
    const [a] = await Promise.all([slots.enter(forever), slots.enter(forever)])
    a.leave()
    a.leave()
    expect(slots.running).toBe(1)
  })
})

describe('KIN-05: an agent blocked on its children lends its place', () => {
  test('a chain of nested agents finishes with one place', async () => {
    const slots = createSlots({ running: 1 })
    const nest = async (depth: number): Promise<number> => {
      const slot = await slots.enter(forever)
      let below = 0
      if (depth > 0) {
        slot.lend()
        below = await nest(depth - 1)
        await slot.reclaim()
      }
      slot.leave()
      return below + 1
    }
    expect(await nest(5)).toBe(6)
    expect([slots.running, slots.queued]).toEqual([0, 0])
  })

  test('a returning agent goes before one that has not begun', async () => {
    const slots = createSlots({ running: 1 })
    const parent = await slots.enter(forever)
    parent.lend()
    const child = await slots.enter(forever)
    const order: string[] = []
    const stranger = slots.enter(forever).then((slot) => (order.push('stranger'), slot))
    const back = parent.reclaim().then(() => order.push('parent'))
    child.leave()
    await back
    expect(order).toEqual(['parent'])
    parent.leave()
    ;(await stranger).leave()
    expect(order).toEqual(['parent', 'stranger'])
  })
})

test('agents that may delegate leave room for those that cannot: however many are blocked, a leaf gets a place', async () => {
  const slots = createSlots({ running: 2, lenders: 3 })
  const blocked = []
  for (let i = 0; i < 3; i += 1) {
    const slot = await slots.enter(forever, { levels: 1 })
    slot.lend()
    blocked.push(slot)
  }
  const fourth = slots.enter(forever, { levels: 1 })
  expect([slots.running, slots.queued, slots.isFull({ levels: 1 }), slots.isFull()]).toEqual([0, 1, true, false])
  const leaf = await slots.enter(forever)
  blocked[0]?.leave()
  ;(await fourth).leave()
  leaf.leave()
  for (const slot of blocked) slot.leave()
  expect([slots.running, slots.queued, slots.isFull({ levels: 1 })]).toEqual([0, 0, false])
})

test('trees of any depth and width finish, whatever the limits (KIN-05)', async () => {
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 6 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), async (max, maxLenders, depth, width) => {
    const slots = createSlots({ running: max, lenders: maxLenders })
    let ended = 0
    const grow = async (levels: number): Promise<void> => {
      const slot = await slots.enter(forever, { levels })
      if (levels > 0) {
        await Promise.all(Array.from({ length: width }, async () => {
          slot.lend()
          await grow(levels - 1)
          await slot.reclaim()
        }))
      }
      slot.leave()
      ended += 1
    }
    await Promise.all(Array.from({ length: 8 }, () => grow(depth)))
    expect(ended).toBeGreaterThan(8)
    expect([slots.running, slots.queued]).toEqual([0, 0])
  }), { numRuns: 60 })
})

test('on random histories no place is lost and the limit holds', async () => {
  await fc.assert(fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 3 }),
    fc.array(fc.tuple(fc.constantFrom('enter', 'leave', 'lend', 'reclaim', 'abort', 'wait'), fc.nat(30)), { maxLength: 60 }),
    async (max, maxLenders, steps) => {
      const slots = createSlots({ running: max, lenders: maxLenders })
      const held: { slot: Slot; lent: number }[] = []
      const pending: { controller: AbortController; done: Promise<void> }[] = []
      const reclaims: Promise<void>[] = []
      for (const [step, n] of steps) {
        const one = held[n % Math.max(1, held.length)]
        if (step === 'enter') {
          const controller = new AbortController()
          pending.push({ controller, done: slots.enter(controller.signal, { levels: n % 3 }).then((slot) => void held.push({ slot, lent: 0 }), () => {}) })
        } else if (step === 'abort') pending[n % Math.max(1, pending.length)]?.controller.abort(new Error('stop'))
        else if (step === 'leave' && one) one.slot.leave()
        else if (step === 'lend' && one) {
          one.slot.lend()
          one.lent += 1
        } else if (step === 'reclaim' && one && one.lent > 0) {
          one.lent -= 1
          reclaims.push(one.slot.reclaim())
        } else if (step === 'wait') await settled()
        expect(slots.running).toBeLessThanOrEqual(max)
        expect(slots.running).toBeGreaterThanOrEqual(0)
      }
      for (let round = 0; round < 200 && (slots.running > 0 || slots.queued > 0); round += 1) {
        for (const { slot } of held) slot.leave()
        await settled()
      }
      await Promise.all(reclaims)
      await Promise.all(pending.map(({ done }) => done))
      expect([slots.running, slots.queued]).toEqual([0, 0])
    },
  ), { numRuns: 200 })
})

test('who leaves for good while it waits for its place to come back stops waiting, and takes none', async () => {
  const slots = createSlots({ running: 1 })
  const one = await slots.enter(forever)
  one.lend()
  const two = await slots.enter(forever)
  const back = one.reclaim()
  one.leave()
  await back
  expect(slots.running).toBe(1)
  two.leave()
  expect(slots.running).toBe(0)
})
