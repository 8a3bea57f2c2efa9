// The same work with nothing around it: one process, fetch, a reader of server-sent events, fs. `node fan-out.mjs <url> <children> <model>`.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const [url, children, model] = process.argv.slice(2)
const SYSTEM = 'You explore a code base and report what you found. You change nothing.'
const READ = { name: 'read', description: 'Read a text file.', input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } }
const AGENT = { name: 'agent', description: 'Delegate a task.', input_schema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] } }

async function ask(messages, tools) {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'any', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model, max_tokens: 4096, stream: true, system: SYSTEM, tools, messages }),
  })
  const content = []
  let rest = ''
  const decoder = new TextDecoder()
  for await (const piece of response.body) {
    const events = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = events.pop()
    for (const event of events) {
      const data = JSON.parse(event.slice(event.indexOf('data: ') + 6))
      if (data.type === 'content_block_start') content[data.index] = { ...data.content_block, json: '' }
      if (data.type === 'content_block_delta') {
        const block = content[data.index]
        if (data.delta.type === 'text_delta') block.text += data.delta.text
        else block.json += data.delta.partial_json
      }
    }
  }
  return content.map(({ json, ...block }) => (block.type === 'tool_use' ? { ...block, input: JSON.parse(json) } : block))
}

async function loop(prompt, tools, run) {
  const messages = [{ role: 'user', content: prompt }]
  for (;;) {
    const content = await ask(messages, tools)
    const calls = content.filter(({ type }) => type === 'tool_use')
    messages.push({ role: 'assistant', content })
    if (calls.length === 0) return content.map(({ text }) => text).join('')
    const results = await Promise.all(calls.map(async ({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: await run(input) })))
    messages.push({ role: 'user', content: results })
  }
}

const child = (prompt) => loop(prompt, [READ], ({ path }) => readFile(join(process.cwd(), path), 'utf8'))
process.stdout.write(`${await loop(`[bench parent ${children}]`, [AGENT], ({ prompt }) => child(prompt))}\n`)
