import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CadreEvent } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Orchestrator, OrchestratorOptions } from '../../src/api.ts'
import { createOrchestrator } from '../../src/orchestrator.ts'
import { startProviderServer } from '../server/provider-server.ts'
import type { Answer, ProviderServer, Script, ScriptRequest, Wire } from '../server/provider-server.ts'

export type Lab = {
  readonly root: string
  readonly home: string
  readonly cadre: Orchestrator
  readonly server: ProviderServer
  readonly events: readonly CadreEvent[]
}

/** A project in a temp folder, a scripted provider, and an orchestrator over both; all gone when the test has finished. */
export async function lab(options: {
  readonly files?: Readonly<Record<string, string>>
  readonly wire?: Wire
  readonly script?: Script
  readonly settings?: JsonObject
  readonly orchestrator?: OrchestratorOptions
} = {}): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-lab-'))
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(root)
  for (const [path, text] of Object.entries({ 'a.txt': 'alpha\nbeta\n', ...options.files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const wire = options.wire ?? 'openai'
  const server = await startProviderServer({ script: options.script ?? (() => ({ text: 'ok' })) })
  const events: CadreEvent[] = []
  const cadre = await createOrchestrator({
    root,
    cwd: root,
    watch: false,
    env: { PATH: process.env['PATH'], HOME: folder, CADRE_HOME: home, OPENAI_API_KEY: 'sk-test-openai', ANTHROPIC_API_KEY: 'sk-test-anthropic', OPENAI_BASE_URL: `${server.url}/v1`, ANTHROPIC_BASE_URL: server.url },
    settings: {
      model: wire === 'openai' ? 'openai/gpt-test' : 'anthropic/claude-test',
      ...options.settings,
      limits: { launchPerSecond: 10_000, ...(isObject(options.settings?.['limits']) && options.settings['limits']) },
    },
    onEvent: (event) => void events.push(event),
    ...options.orchestrator,
  })
  onTestFinished(async () => {
    await cadre.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { root, home, cadre, server, events }
}

/** Whether a request comes from an agent that holds this tool. */
export const holds = ({ body }: ScriptRequest, tool: string): boolean => JSON.stringify(body['tools'] ?? []).includes(`"name":"${tool}"`)

/** A script of a parent (whoever holds `agent`) that delegates once and then answers with what came back, and of its children. */
export const parentAndChildren = (inputs: readonly JsonObject[], child: Script): Script => (request) => {
  if (!holds(request, 'agent')) return child(request)
  if (request.turn === 1) return { calls: inputs.map((input) => ({ name: 'agent', input })) }
  return { text: request.toolResults.map(({ text }) => text).join('\n=====\n') }
}

/** Asks for these calls in the first turn, then answers with their results. */
export const callsThenTells = (calls: NonNullable<Answer['calls']>): Script => (request) =>
  request.turn === 1 ? { calls } : { text: request.toolResults.map(({ text }) => text).join('\n') }

export const ofType = <Type extends CadreEvent['type']>(events: readonly CadreEvent[], type: Type): readonly Extract<CadreEvent, { type: Type }>[] =>
  events.filter((event): event is Extract<CadreEvent, { type: Type }> => event.type === type)
