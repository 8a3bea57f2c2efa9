import type { Message, ToolCall } from '../core/contract.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'

/**
 * One piece of a reply in the order the provider wrote it. Text is kept by length and calls by id, because the reply holds both already.
 * `meta` is the provider's own (signatures of reasoning and of calls).
 */
export type ReplyPart = { readonly meta?: JsonObject } &
  ({ readonly reasoning: string } | { readonly text: number } | { readonly call: string })

/** What of a reply must go back unchanged; undefined when text and calls say it all. `by` is the full id of the model that may get it. */
export function sealParts(by: string, parts: readonly ReplyPart[]): Json | undefined {
  if (parts.every((part) => part.meta === undefined && !('reasoning' in part))) return undefined
  return { by, parts }
}

export type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>

/** A part with its text or call filled in again. */
export type OpenPart = { readonly meta?: JsonObject | undefined } &
  ({ readonly reasoning: string } | { readonly text: string } | { readonly call: ToolCall })

/**
 * The parts of an assistant message in their order. Reasoning goes back only to the model it is from: another one could not check its
 * signature. A message whose record does not fit its text and calls is rebuilt from those alone.
 */
export function openParts(message: AssistantMessage, model: string): readonly OpenPart[] {
  const plain: readonly OpenPart[] = [...(message.text === '' ? [] : [{ text: message.text }]), ...message.calls.map((call) => ({ call }))]
  const { opaque } = message
  if (!isObject(opaque) || opaque['by'] !== model || !Array.isArray(opaque['parts'])) return plain
  const calls = new Map(message.calls.map((call) => [call.id, call]))
  const parts: OpenPart[] = []
  let at = 0
  for (const part of opaque['parts'] as readonly Json[]) {
    if (!isObject(part)) return plain
    const meta = isObject(part['meta']) ? part['meta'] : undefined
    if (typeof part['reasoning'] === 'string') {
      parts.push({ reasoning: part['reasoning'], meta })
    } else if (typeof part['text'] === 'number') {
      parts.push({ text: message.text.slice(at, at + part['text']), meta })
      at += part['text']
    } else {
      const call = typeof part['call'] === 'string' ? calls.get(part['call']) : undefined
      if (!call || !calls.delete(call.id)) return plain
      parts.push({ call, meta })
    }
  }
  return at === message.text.length && calls.size === 0 ? parts : plain
}
