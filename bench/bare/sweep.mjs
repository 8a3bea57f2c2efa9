// The same sweep with nothing around it: `node sweep.mjs <folder> <threads> <results file>`. Threads share the files; each item's program gets
// globals of its own (node:vm, which keeps nothing out), reads its file through a function, and its result becomes a line of JSON.
import { createWriteStream, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const PROGRAM = `(async () => {
  const { items: [{ item }] } = JSON.parse(prompt)
  const { text } = await tools.read({ path: item })
  return { lines: text.split('\\n').length - 1 }
})()`

if (isMainThread) {
  const [folder, threads, results] = process.argv.slice(2)
  const out = createWriteStream(results)
  let done = 0
  await Promise.all(Array.from({ length: Number(threads) }, (_, i) => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { folder, threads: Number(threads), i } })
    worker.on('message', (line) => {
      out.write(line)
      done += 1
    })
    worker.on('error', reject)
    worker.on('exit', resolve)
  })))
  await new Promise((resolve) => { out.end(resolve) })
  process.stdout.write(`${done}\n`)
} else {
  const { folder, threads, i } = workerData
  const script = new Script(PROGRAM)
  const tools = { read: async ({ path }) => ({ text: readFileSync(join(folder, path), 'utf8') }) }
  for (const item of readdirSync(folder).filter((_, at) => at % threads === i)) {
    const value = await script.runInContext(createContext({ tools, prompt: JSON.stringify({ items: [{ item }] }) }))
    parentPort.postMessage(`${JSON.stringify({ item, value })}\n`)
  }
}
