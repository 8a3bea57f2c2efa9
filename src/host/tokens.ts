import type { Message, ToolSchema } from '../core/contract.ts'

/** Code and JSON have about three bytes a token, English more: a guess that is rather too high. */
export const BYTES_PER_TOKEN = 3

/** No text a model reads has more tokens than one for two bytes, but for noise. */
const LEAST_BYTES_PER_TOKEN = 2

/** What a wire adds around a message or a call, in bytes. */
const FRAME_BYTES = 24

/** The size of messages in bytes, as a wire would have them. */
export function bytesOf(messages: readonly Message[]): number {
  let bytes = 0
  for (const message of messages) {
    bytes += FRAME_BYTES
    switch (message.role) {
      case 'user':
        bytes += Buffer.byteLength(message.text)
        break
      case 'assistant':
        bytes += Buffer.byteLength(message.text) + (message.opaque === undefined ? 0 : Buffer.byteLength(JSON.stringify(message.opaque)))
        for (const { name, input } of message.calls) bytes += FRAME_BYTES + name.length + Buffer.byteLength(JSON.stringify(input))
        break
      case 'tool':
        for (const { text } of message.outcomes) bytes += FRAME_BYTES + Buffer.byteLength(text)
        break
    }
  }
  return bytes
}

/** The size of what comes before all messages. */
export const frameBytes = (system: string, tools: readonly ToolSchema[]): number => Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools))

export const guessTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

/** More than this so many bytes cannot be: a provider's count beyond it is of several tries together. */
export const mostTokens = (bytes: number): number => Math.ceil(bytes / LEAST_BYTES_PER_TOKEN)
