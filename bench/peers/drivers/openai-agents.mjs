// `node openai-agents.mjs <url> <children>`: a fan-out with the OpenAI Agents SDK, a sub-agent being a tool that runs an agent.
import { readFile } from 'node:fs/promises'
import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const [url, children] = process.argv.slice(2)
setTracingDisabled(true)
setOpenAIAPI('chat_completions')
setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }))
const instructions = 'You explore a code base and report what you found. You change nothing.'
const model = 'claude-scripted'
const limits = { maxTurns: 50 }

const read = tool({ name: 'read', description: 'Read a text file.', parameters: z.object({ path: z.string() }), execute: ({ path }) => readFile(path, 'utf8') })
const child = new Agent({ name: 'explorer', instructions, model, tools: [read] })
const agent = tool({
  name: 'agent',
  description: 'Delegate a task.',
  parameters: z.object({ prompt: z.string() }),
  execute: async ({ prompt }) => (await run(child, prompt, limits)).finalOutput,
})
const parent = new Agent({ name: 'parent', instructions, model, tools: [agent] })
process.stdout.write(`${(await run(parent, `[bench parent ${children}]`, limits)).finalOutput}\n`)
