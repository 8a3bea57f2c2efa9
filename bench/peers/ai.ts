import { libraryPeer } from './library.ts'

export const ai = libraryPeer('ai', ['ai', '@ai-sdk/openai-compatible', 'zod'])
