import type { MessagePort } from 'node:worker_threads'
import type { Endpoint } from 'comlink'

import { list, record } from './plain.ts'

/** One call at a time is all a loop ever has under way; a flood ends at its second message. */
const MAX_PENDING = 1

/** Comlink's ids are four hexadecimal numbers. */
const CALL_ID = /^[0-9a-f-]{1,80}$/

/** How much of a refused message is shown, in characters. */
const MAX_SHOWN = 120

/** The methods a thread may call: each reads the call's arguments into fresh plain data, or gives null to refuse them. */
export type Doors = Readonly<Record<string, (args: readonly unknown[]) => readonly unknown[] | null>>

export type Guarded = Endpoint & { close(): void }

/**
 * An endpoint for Comlink that lets through nothing but `APPLY` of one listed method with plain data (SHL-07). Comlink itself would walk any
 * property path and build proxies from arguments: so what it gets is a message made here, never the one that arrived. The first other message
 * calls `refuse` once with what was asked for (`GET constructor.constructor`), and nothing is let through after it.
 */
export function guarded(port: MessagePort, doors: Doors, refuse: (what: string) => void): Guarded {
  const listeners = new Set<(event: { data: unknown }) => void>()
  let open = true
  let pending = 0

  const close = () => {
    open = false
    listeners.clear()
    port.close()
  }
  const end = (what: string) => {
    if (!open) return
    close()
    refuse(what)
  }
  port.on('messageerror', () => end('a message that cannot be read'))
  port.on('message', (message: unknown) => {
    if (!open) return
    const call = callFrom(message, doors)
    if (typeof call === 'string') return end(call)
    if (pending >= MAX_PENDING) return end(`${call.path.join('.')} while another call was under way`)
    pending += 1
    for (const listener of listeners) listener({ data: call })
  })

  return {
    addEventListener: (_type, listener) => void listeners.add(listener as (event: { data: unknown }) => void),
    removeEventListener: (_type, listener) => void listeners.delete(listener as (event: { data: unknown }) => void),
    postMessage(answer: unknown) {
      if (!open) return
      port.postMessage(answer) // throws on what cannot be cloned; Comlink then answers with an error, so the call is still pending
      pending -= 1
    },
    close,
  }
}

type Apply = { id: string; type: 'APPLY'; path: [string]; argumentList: readonly { type: 'RAW'; value: unknown }[] }

/** The one message a thread may send, or what to say of any other. */
function callFrom(message: unknown, doors: Doors): Apply | string {
  const call = record(message, ['id', 'type', 'path', 'argumentList'])
  if (call === null || call['type'] !== 'APPLY') return described(message)
  const { id, path } = call
  const name: unknown = Array.isArray(path) && path.length === 1 ? path[0] : undefined
  if (typeof id !== 'string' || !CALL_ID.test(id) || typeof name !== 'string' || !Object.hasOwn(doors, name)) return described(message)
  const raw = list(call['argumentList'], rawValue)
  const args = raw && doors[name]?.(raw.map(({ value }) => value))
  if (!args) return `${described(message)} with arguments that are not its plain data`
  return { id, type: 'APPLY', path: [name], argumentList: args.map((value) => ({ type: 'RAW', value })) }
}

function rawValue(value: unknown): { readonly value: unknown } | null {
  const wire = record(value, ['type', 'value'])
  return wire?.['type'] === 'RAW' ? { value: wire['value'] } : null
}

/** `<type> <path>` of a message of any shape, short and on one line. */
function described(message: unknown): string {
  if (typeof message !== 'object' || message === null) return 'a message that is no call'
  const part = (key: string): unknown => Object.getOwnPropertyDescriptor(message, key)?.value
  const type = part('type')
  const path = part('path')
  const names = Array.isArray(path) ? path.slice(0, 8).filter((name) => typeof name === 'string').join('.') : ''
  const shown = `${typeof type === 'string' ? type : 'a message that is no call'} ${names}`.trim()
  return shown.slice(0, MAX_SHOWN).replaceAll(/[^\x20-\x7e]/g, '?')
}
