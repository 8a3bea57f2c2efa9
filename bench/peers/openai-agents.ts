import { libraryPeer } from './library.ts'

export const openaiAgents = libraryPeer('openai-agents', ['@openai/agents', 'openai', 'zod'])
