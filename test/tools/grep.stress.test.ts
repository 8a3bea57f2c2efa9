import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

import { testRoot } from './place.ts'

test('TOO-05: a catastrophic pattern on one file or on a folder ends after 10 s with the text, keeping what was found', async () => {
  const trap = `${'a'.repeat(60)}b\n`
  const { root } = testRoot({ 'a.txt': `aaaa\n${trap}`, 'z.txt': 'aaa\n' })
  const [file, folder] = await Promise.all([inThread(root, { pattern: '^(a+)+$', path: 'a.txt' }), inThread(root, { pattern: '^(a|aa)+$' })])
  expect(file).toBe('a.txt\n1:aaaa\nSearch stopped after 10 s; narrow path or pattern.')
  expect(folder).toBe('a.txt\n1:aaaa\nSearch stopped after 10 s; narrow path or pattern.')
}, 40_000)

/** Runs grep in a thread of its own, as a sub-agent does. */
function inThread(root: string, input: object): Promise<string> {
  const url = new URL('../../src/tools/reading/index.ts', import.meta.url).href
  const code = `const { parentPort, workerData } = require('node:worker_threads')
    import(${JSON.stringify(url)}).then(({ readFunctions }) => readFunctions.grep(workerData.input, { root: workerData.root, paths: [], form: 'text', stopped: () => false }))
      .then((answer) => parentPort.postMessage(answer.text))`
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: { root, input } })
    worker.once('message', (text: string) => void worker.terminate().then(() => resolve(text)))
    worker.once('error', reject)
  })
}
