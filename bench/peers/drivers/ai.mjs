// `node ai.mjs <url> <children>`: a fan-out with the AI SDK, a sub-agent being a tool that runs a loop of its own.
import { readFile } from 'node:fs/promises'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const [url, children] = process.argv.slice(2)
const model = createOpenAICompatible({ name: 'bench', baseURL: `${url}/v1`, apiKey: 'any' })('claude-scripted')
const system = 'You explore a code base and report what you found. You change nothing.'
const stopWhen = stepCountIs(20)

const read = tool({ description: 'Read a text file.', inputSchema: z.object({ path: z.string() }), execute: ({ path }) => readFile(path, 'utf8') })
const agent = tool({
  description: 'Delegate a task.',
  inputSchema: z.object({ prompt: z.string() }),
  execute: async ({ prompt }) => (await generateText({ model, system, prompt, tools: { read }, stopWhen })).text,
})
const { text } = await generateText({ model, system, prompt: `[bench parent ${children}]`, tools: { agent }, stopWhen })
process.stdout.write(`${text}\n`)
