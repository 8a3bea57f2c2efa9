import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import { CadreError, messageOf } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { describeEnding } from '../../core/status.ts'
import type { Ending } from '../../core/status.ts'
import { readRegularFile } from '../../sweep/read-regular-file.ts'
import { answerText } from '../answer.ts'
import type { CliContext } from '../context.ts'
import { createEventStream } from '../event-stream.ts'
import { exitCodeOfStatus } from '../exit-code.ts'
import { createNarrator } from '../narrator.ts'
import { diagnosticsTo } from '../diagnostics.ts'

type Flags = {
  readonly print?: string | true
  readonly model?: string
  readonly agent?: string
  readonly agents?: JsonObject
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  readonly schema?: string
  readonly outputFormat: 'text' | 'json' | 'stream-json'
  readonly verbose?: boolean
}

/** `cadre -p <prompt>`: a headless run (CMD-01, 02). */
export function register(program: Command, context: CliContext): void {
  program
    .option('-p, --print [prompt]', 'run a prompt (or what stands on stdin) and print its answer')
    .option('--model <model>', 'model of the run: <provider>/<model>, an id or an alias')
    .option('--agent <type>', 'agent type to run as the main agent')
    .option('--agents <json>', 'agent types as JSON: {"name": {"description": …, "prompt": …}}', parseJson)
    .option('--tools <list>', 'tools the run may use, separated by commas', parseList)
    .option('--disallowed-tools <list>', 'tools the run may not use', parseList)
    .option('--max-turns <n>', 'turns after which the run ends as partial', parseCount)
    .option('--schema <file>', 'JSON Schema file the answer must fit')
    .addOption(new Option('--output-format <format>', 'what stdout carries').choices(['text', 'json', 'stream-json']).default('text'))
    .option('--verbose', 'tell every tool call on stderr')
    .action(async (flags: Flags) => {
      const prompt = await promptOf(flags, context)
      if (prompt === null) {
        context.stderr.write(`${program.helpInformation()}\nGive a prompt with -p, or name a command. The interactive view comes in a later version.\n`)
        context.setExitCode(2)
        return
      }
      await run(prompt, flags, context)
    })
}

async function run(prompt: string, flags: Flags, context: CliContext): Promise<void> {
  const narrator = createNarrator(context, { verbose: flags.verbose ?? false })
  const stream = flags.outputFormat !== 'stream-json' ? null
    : createEventStream(context.stdout, (session, afterSeq) => orchestrator.journal.events({ session, afterSeq }))
  const orchestrator = await context.open({
    ...(flags.agents && { agents: flags.agents }),
    onEvent(event) {
      stream?.onEvent(event)
      narrator.onEvent(event)
    },
    onDiagnostic: diagnosticsTo(context),
  })
  const outputSchema = flags.schema === undefined ? null : await readSchema(flags.schema)
  const running = orchestrator.run({
    prompt,
    signal: context.interrupted,
    ...(flags.agent !== undefined && { agent: flags.agent }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.tools && { tools: flags.tools }),
    ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools }),
    ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
    ...(outputSchema && { outputSchema }),
  })
  await Promise.allSettled([running]) // its events are written first, however it ends
  await stream?.end()
  const result = await running
  narrator.end()
  if (flags.outputFormat === 'text') context.stdout.write(answerText(result))
  if (flags.outputFormat === 'json') context.stdout.write(`${JSON.stringify(result)}\n`)
  if (!result.success) context.stderr.write(`cadre: ${describeEnding(result as Ending)}: ${result.error ?? ''}\n`)
  for (const note of result.note.split('\n').filter(Boolean)) context.stderr.write(`cadre: note: ${note}\n`)
  context.setExitCode(exitCodeOfStatus(result.status))
}

async function promptOf({ print }: Flags, { stdin }: CliContext): Promise<string | null> {
  if (print === undefined) return stdin.isTTY ? null : ((await text(stdin)).trim() || null)
  if (print !== true && print.trim() !== '') return print
  if (stdin.isTTY) throw new CadreError('USAGE', 'The prompt is empty. Give it after -p, or on stdin.')
  const piped = (await text(stdin)).trim()
  if (piped === '') throw new CadreError('USAGE', 'The prompt is empty. Give it after -p, or on stdin.')
  return piped
}

/** Reads a JSON Schema file; throws CadreError USAGE naming the file. */
export async function readSchema(path: string): Promise<JsonObject> {
  try {
    const schema: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readRegularFile(path)))
    if (isObject(schema)) return schema
  } catch (cause) {
    throw new CadreError('USAGE', `The schema ${path} cannot be read as JSON: ${messageOf(cause)}`, { cause })
  }
  throw new CadreError('USAGE', `The schema ${path} is not a JSON object. A JSON Schema is one.`)
}

/** A comma list whose commas inside brackets do not split. */
export const parseList = (written: string): readonly string[] => written.split(/,(?![^()]*\))/).map((name) => name.trim()).filter(Boolean)

/** A whole number above 0. */
export function parseCount(written: string): number {
  const number = Number(written)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return number
}

export function parseJson(written: string): JsonObject {
  try {
    const value: unknown = JSON.parse(written)
    if (isObject(value)) return value
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${messageOf(error)}`)
  }
  throw new InvalidArgumentError('It must be a JSON object.')
}
