import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Orchestrator, OrchestratorOptions } from '../../src/api.ts'
import type { CadreEvent } from '../../src/core/events.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { isObject } from '../../src/core/json.ts'
import { createOrchestrator } from '../../src/orchestrator.ts'
import type { Answer, ProviderServer, Script, ScriptRequest, Wire } from '../server/provider-server.ts'
import { messageText, objects } from '../server/message-text.ts'
import { startProviderServer } from '../server/provider-server.ts'

/** An orchestrator on a stage, and what it tells. */
export type Life = { readonly cadre: Orchestrator; readonly events: readonly CadreEvent[] }

/** A project and a scripted provider that outlive the processes which work there. */
export type Stage = {
  readonly root: string
  readonly server: ProviderServer
  /** Begins a life on what the one before left. */
  open(options?: OrchestratorOptions): Promise<Life>
  /**
   * A life that dies the moment an event fits: nothing it does from there on is in the journal. Resolves with the events it told, that one the
   * last. Rejects when the work ends without such an event.
   */
  die(when: When, work: Work, options?: OrchestratorOptions): Promise<readonly CadreEvent[]>
  /** The same, or a whole life: whether it died. Rejects with what the work of a whole one rejects with. */
  mayDie(when: When, work: Work, options?: OrchestratorOptions): Promise<{ readonly died: boolean; readonly events: readonly CadreEvent[] }>
  /** Called when the test has finished, too. */
  close(): Promise<void>
}

type When = (event: CadreEvent) => boolean
type Work = (cadre: Orchestrator) => Promise<unknown>

export async function openStage(options: {
  readonly files?: Readonly<Record<string, string>>
  readonly wire?: Wire
  readonly script: Script
  readonly settings?: JsonObject
  readonly orchestrator?: OrchestratorOptions
  /** False keeps neither requests nor events, for tests that look at memory (true). */
  readonly record?: boolean
}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-stage-'))
  const root = join(folder, 'project')
  mkdirSync(root)
  for (const [path, text] of Object.entries({ 'a.txt': 'alpha\nbeta\n', ...options.files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const server = await startProviderServer({ script: options.script, record: options.record ?? true })
  const lives: Orchestrator[] = []
  const base: OrchestratorOptions = {
    root,
    cwd: root,
    watch: false,
    env: {
      PATH: process.env['PATH'], HOME: folder, CADRE_HOME: join(folder, 'home'), OPENAI_API_KEY: 'sk-test-openai', ANTHROPIC_API_KEY: 'sk-test-anthropic',
      OPENAI_BASE_URL: `${server.url}/v1`, ANTHROPIC_BASE_URL: server.url,
    },
    settings: {
      model: options.wire === 'anthropic' ? 'anthropic/claude-test' : 'openai/gpt-test',
      delivery: { coalesce: 0.01 },
      ...options.settings,
      limits: { launchPerSecond: 10_000, ...(isObject(options.settings?.['limits']) && options.settings['limits']) },
    },
    ...options.orchestrator,
  }
  let closing: Promise<void> | null = null
  async function closeAll(): Promise<void> {
    await Promise.all(lives.map((cadre) => cadre.close()))
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const close = () => closing ??= closeAll()
  onTestFinished(close)

  async function open(more: OrchestratorOptions = {}): Promise<Life> {
    const events: CadreEvent[] = []
    const cadre = await createOrchestrator({
      ...base,
      ...more,
      onEvent(event) {
        if (event.seq > 0 && options.record !== false) events.push(event)
        more.onEvent?.(event)
      },
    })
    lives.push(cadre)
    return { cadre, events }
  }

  const mayDie: Stage['mayDie'] = async (when, work, more) => {
    const { promise: dead, resolve } = Promise.withResolvers<Image>()
    const events: CadreEvent[] = []
    let image: Image | null = null
    const { cadre } = await open({
      ...more,
      onEvent(event) {
        if (image || event.seq === 0) return
        if (options.record !== false) events.push(event)
        more?.onEvent?.(event)
        if (!when(event)) return
        image = imageOf(cadre.journal.file)
        resolve(image)
      },
    })
    const whole = work(cadre).then(() => cadre.settled())
    const left = await Promise.race([dead, whole.then(() => null)])
    await cadre.close()
    if (left === null) return { died: false, events }
    // Of a dead process nobody hears how its work went.
    await whole.catch(() => null)
    restore(cadre.journal.file, left)
    return { died: true, events }
  }

  return {
    root,
    server,
    open,
    mayDie,
    async die(when, work, more) {
      const { died, events } = await mayDie(when, work, more)
      if (!died) throw new Error('It did not die: no event fitted')
      return events
    },
    close,
  }
}

/** The files of a journal as a dead process leaves them: the database, and the log of what is not in it yet. */
type Image = { readonly database: Buffer; readonly log: Buffer | null }

const logOf = (file: string): string => `${file}-wal`

const imageOf = (file: string): Image => ({ database: readFileSync(file), log: existsSync(logOf(file)) ? readFileSync(logOf(file)) : null })

function restore(file: string, { database, log }: Image): void {
  rmSync(`${file}-shm`, { force: true })
  writeFileSync(file, database)
  if (log) writeFileSync(logOf(file), log)
  else rmSync(logOf(file), { force: true })
}

/** A script for each agent, by the prompt it was started with. */
export const cast = (parts: Readonly<Record<string, Script>>): Script => (request) => {
  const first = userTexts(request)[0] ?? ''
  const [, part] = Object.entries(parts).find(([prompt]) => first.endsWith(prompt)) ?? []
  if (!part) throw new Error(`Nobody was told: ${first}`)
  return part(request)
}

/** What the user's side of a conversation says, message by message. */
export const userTexts = ({ body }: ScriptRequest): readonly string[] =>
  objects(body['messages']).filter(({ role }) => role === 'user').map(({ content }) => messageText(content)).filter((text) => text !== '')

/** Answers turn by turn, and `done` after the last. */
export const turns = (...answers: readonly (Answer | Script)[]): Script => (request) => {
  const answer = answers[request.turn - 1] ?? { text: 'done' }
  return typeof answer === 'function' ? answer(request) : answer
}
