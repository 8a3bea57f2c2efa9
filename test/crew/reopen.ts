import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Orchestrator, OrchestratorOptions } from '../../src/api.ts'
import type { CadreEvent } from '../../src/core/events.ts'
import { createOrchestrator } from '../../src/orchestrator.ts'
import type { Lab } from '../delegation/lab.ts'

/** Another orchestrator over a lab's project, home and provider, as a later process has it: close the lab's own first, or use both. */
export async function reopen({ root, home, server }: Lab, { env, ...options }: OrchestratorOptions = {}): Promise<{ readonly cadre: Orchestrator; readonly events: readonly CadreEvent[] }> {
  const events: CadreEvent[] = []
  const cadre = await createOrchestrator({
    root,
    cwd: root,
    watch: false,
    settings: { model: 'openai/gpt-test', limits: { launchPerSecond: 10_000 } },
    onEvent: (event) => void events.push(event),
    ...options,
    env: { PATH: process.env['PATH'], HOME: join(home, '..'), CADRE_HOME: home, OPENAI_API_KEY: 'sk-test-openai', OPENAI_BASE_URL: `${server.url}/v1`, ...env },
  })
  onTestFinished(() => cadre.close())
  return { cadre, events }
}
