import { libraryPeer } from './library.ts'

export const langgraph = libraryPeer('langgraph', ['@langchain/langgraph', '@langchain/core', '@langchain/openai', 'zod'])
