// isolated-vm in a process with nothing around it: for each message `[code, count]` runs that many programs, each in an isolate of its own, and
// answers with the ms each took.
import ivm from 'isolated-vm'

const HEAP_MB = 128

async function run(code) {
  const isolate = new ivm.Isolate({ memoryLimit: HEAP_MB })
  try {
    const context = await isolate.createContext()
    const script = await isolate.compileScript(`(async function () {\n${code}\n})()`)
    return await script.run(context, { promise: true, copy: true })
  } finally {
    isolate.dispose()
  }
}

process.on('disconnect', () => process.exit())
process.on('message', async ([code, count]) => {
  const began = performance.now()
  for (let i = 0; i < count; i += 1) await run(code)
  process.send((performance.now() - began) / count)
})
