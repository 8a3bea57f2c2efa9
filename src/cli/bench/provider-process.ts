import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CadreError, messageOf } from '../../core/errors.ts'
import type { ProviderStats } from './fake-provider.ts'
import type { FanOut } from './fan-out-script.ts'

export type FakeProvider = {
  /** Without a slash at the end. */
  readonly url: string
  reset(script: FanOut): Promise<void>
  stats(): Promise<ProviderStats>
  close(): Promise<void>
}

/** Starts the process whose entry file is given, and waits until it listens. */
export async function startFakeProvider(entry: URL): Promise<FakeProvider> {
  const child = spawn(process.execPath, [fileURLToPath(entry)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => { throw new CadreError('INVARIANT', 'The fake provider of the bench ended before it listened.') }),
  ])) as [string]
  const ask = async (path: string, init?: RequestInit): Promise<Response> => {
    try {
      return await fetch(`${url}${path}`, init)
    } catch (cause) {
      const why = messageOf(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause)
      throw new CadreError('MODEL', `The bench cannot reach its own provider at ${url}: ${why}. It needs the loopback interface, and no proxy for it (NO_PROXY=127.0.0.1).`, { cause })
    }
  }
  return {
    url,
    async reset(script) {
      await ask('/reset', { method: 'POST', body: JSON.stringify(script) })
    },
    async stats() {
      return (await (await ask('/stats')).json()) as ProviderStats
    },
    async close() {
      child.stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
