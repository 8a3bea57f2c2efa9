// `node langgraph.mjs <url> <children>`: a fan-out with LangGraph's prebuilt agent, a sub-agent being a tool that invokes one.
import { readFile } from 'node:fs/promises'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const [url, children] = process.argv.slice(2)
const llm = new ChatOpenAI({ model: 'claude-scripted', apiKey: 'any', configuration: { baseURL: `${url}/v1` }, useResponsesApi: false })
const prompt = 'You explore a code base and report what you found. You change nothing.'
const ask = async (graph, content) => (await graph.invoke({ messages: [{ role: 'user', content }] }, { recursionLimit: 100 })).messages.at(-1).content

const read = tool(({ path }) => readFile(path, 'utf8'), { name: 'read', description: 'Read a text file.', schema: z.object({ path: z.string() }) })
const child = createReactAgent({ llm, prompt, tools: [read] })
const agent = tool((input) => ask(child, input.prompt), { name: 'agent', description: 'Delegate a task.', schema: z.object({ prompt: z.string() }) })
const parent = createReactAgent({ llm, prompt, tools: [agent] })
process.stdout.write(`${await ask(parent, `[bench parent ${children}]`)}\n`)
