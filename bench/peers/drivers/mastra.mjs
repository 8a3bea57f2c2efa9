// `node mastra.mjs <url> <children>`: a fan-out with Mastra, a sub-agent being a tool that asks an agent.
import { readFile } from 'node:fs/promises'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'

const [url, children] = process.argv.slice(2)
const model = createOpenAICompatible({ name: 'bench', baseURL: `${url}/v1`, apiKey: 'any' })('claude-scripted')
const instructions = 'You explore a code base and report what you found. You change nothing.'
const steps = { maxSteps: 20, toolCallConcurrency: 1_000 }

const read = createTool({ id: 'read', description: 'Read a text file.', inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => readFile(path, 'utf8') })
const child = new Agent({ id: 'explorer', name: 'explorer', instructions, model, tools: { read } })
const agent = createTool({
  id: 'agent',
  description: 'Delegate a task.',
  inputSchema: z.object({ prompt: z.string() }),
  execute: async ({ prompt }) => (await child.generate(prompt, steps)).text,
})
const parent = new Agent({ id: 'parent', name: 'parent', instructions, model, tools: { agent } })
process.stdout.write(`${(await parent.generate(`[bench parent ${children}]`, steps)).text}\n`)
