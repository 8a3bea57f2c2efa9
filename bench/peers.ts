import type { AbsentPeer, Peer } from './peer.ts'
import { ai } from './peers/ai.ts'
import { claudeCode } from './peers/claude-code.ts'
import { langgraph } from './peers/langgraph.ts'
import { mastra } from './peers/mastra.ts'
import { openaiAgents } from './peers/openai-agents.ts'
import { opencode } from './peers/opencode.ts'
import { qwenCode } from './peers/qwen-code.ts'

/** All there are, in the order they run. */
export const PEERS: readonly (Peer | AbsentPeer)[] = [
  ai, openaiAgents, langgraph, mastra, opencode, claudeCode, qwenCode,
  { name: 'gemini-cli', kind: 'CLI', why: 'its sub-agents end by a tool of their own (complete_task) and it speaks Gemini\'s wire: another script' },
  { name: 'codex', kind: 'CLI', why: 'its model starts each sub-agent and then waits for it, in turns of its own, on the Responses wire: another script' },
  { name: 'pi', kind: 'CLI', why: 'it has no sub-agents' },
]
