import { MessageChannel } from 'node:worker_threads'

const apply = (path: unknown, args: readonly unknown[], id: unknown = '1-2-3-4') => ({ id, type: 'APPLY', path, argumentList: args })
const raw = (value: unknown) => ({ type: 'RAW', value })
const outcome = { callId: 'a', tool: 'read', ok: true, text: '' }
const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic
const proto: unknown = JSON.parse('{"__proto__": {"polluted": true}, "callId": "a", "tool": "read", "ok": true, "text": ""}')

/** What a thread might send instead of Comlink's calls: messages, each alone or as a pair with the list of what goes with it by transfer. */
export const attacks: Readonly<Record<string, () => readonly unknown[]>> = {
  'a property path': () => [apply(['constructor', 'constructor'], [raw('return process')])],
  'a constructor of a method': () => [apply(['next', 'constructor'], [raw('return process')])],
  'a prototype': () => [{ id: '1', type: 'GET', path: ['__proto__'] }],
  'reading a property': () => [{ id: '1', type: 'GET', path: ['next'] }],
  'reading the host itself': () => [{ id: '1', type: 'GET', path: [] }],
  'writing a property': () => [{ id: '1', type: 'SET', path: ['next'], value: raw(1) }],
  'writing a prototype': () => [{ id: '1', type: 'SET', path: ['__proto__', 'polluted'], value: raw(true) }],
  'constructing': () => [{ id: '1', type: 'CONSTRUCT', path: ['next'], argumentList: [] }],
  'another endpoint': () => [{ id: '1', type: 'ENDPOINT' }],
  'releasing': () => [{ id: '1', type: 'RELEASE' }],
  'an unknown method': () => [apply(['shutdown'], [])],
  'an inherited method': () => [apply(['toString'], [])],
  'the prototype as a method': () => [apply(['__proto__'], [])],
  'a method of the endpoint': () => [apply(['close'], [])],
  'a callback as argument': () => {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', () => port1.postMessage({ id: 'x', type: 'HANDLER', name: 'throw', value: { isError: false, value: 'boom' } }))
    return [[apply(['next'], [{ type: 'HANDLER', name: 'proxy', value: port2 }]), [port2]]]
  },
  'a thrown value as argument': () => [apply(['next'], [{ type: 'HANDLER', name: 'throw', value: { isError: true, value: { message: 'x' } } }])],
  'an unknown handler': () => [apply(['next'], [{ type: 'HANDLER', name: 'nobody', value: 1 }])],
  'a port as argument': () => {
    const { port2 } = new MessageChannel()
    return [[apply(['next'], [raw(port2)]), [port2]]]
  },
  'no argument': () => [apply(['next'], [])],
  'two arguments': () => [apply(['next'], [raw([]), raw([])])],
  'outcomes that are no list': () => [apply(['next'], [raw({ length: 1, 0: outcome })])],
  'a list with a hole': () => [apply(['next'], [raw(Array(1))])],
  'a list of four billion holes': () => [apply(['next'], [raw(Array(4_294_967_295))])],
  'a cycle': () => [apply(['next'], [raw([cyclic])])],
  'a Map for an outcome': () => [apply(['next'], [raw([new Map(Object.entries(outcome))])])],
  'an outcome with another key': () => [apply(['next'], [raw([{ ...outcome, more: 1 }])])],
  'an outcome with a prototype': () => [apply(['next'], [raw([proto])])],
  'an outcome of no call': () => [apply(['next'], [raw([outcome])])],
  'a call that is not in hand': () => [apply(['call'], [raw(['a'])])],
  'whole calls instead of ids': () => [apply(['call'], [raw([{ id: 'a', name: 'bash', input: { command: 'id' }, local: false }])])],
  'a path that is a text': () => [apply('next', [raw([])])],
  'a path of objects': () => [apply([{ toString: 1 }], [raw([])])],
  'an id that is an object': () => [apply(['next'], [raw([])], { a: 1 })],
  'an endless id': () => [apply(['next'], [raw([])], 'a'.repeat(1_000_000))],
  'one key too many': () => [{ ...apply(['next'], [raw([])]), origin: '*' }],
  'a message that is null': () => [null],
  'a message that is a number': () => [1],
  'a message that is a text': () => ['next'],
  'an empty message': () => [{}],
  'a message that is a list': () => [[[apply(['next'], [raw([])])], []]],
  'an error for a message': () => [new Error('hello')],
  'bytes for a message': () => [new Uint8Array(8)],
  'two calls at once': () => [apply(['next'], [raw([])], '1'), apply(['next'], [raw([])], '2')],
  'a flood': () => Array.from({ length: 20_000 }, (_, i) => apply(['next'], [raw([])], String(i))),
}
