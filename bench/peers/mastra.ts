import { libraryPeer } from './library.ts'

export const mastra = libraryPeer('mastra', ['@mastra/core', '@ai-sdk/openai-compatible', 'zod'])
