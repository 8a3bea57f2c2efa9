import { text } from 'node:stream/consumers'
import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { Orchestrator } from '../../api.ts'
import type { PermissionMode } from '../../core/agent-type.ts'
import { CadreError, messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { PERMISSION_MODE_NAMES, permissionModeNamed } from '../../core/permission-mode.ts'
import { readRegularFile } from '../../sweep/read-regular-file.ts'
import type { CliContext } from '../context.ts'
import { headless } from '../headless.ts'
import type { HeadlessFlags } from '../headless.ts'

type Flags = HeadlessFlags & {
  readonly print?: string | true
  readonly model?: string
  readonly agent?: string
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly maxTurns?: number
  readonly permissionMode?: PermissionMode
  readonly schema?: string
  readonly resume?: string
}

export type ResumeFlags = Pick<Flags, 'print' | keyof HeadlessFlags>

/** `cadre -p <prompt>`: a headless run (CMD-01, 02). */
export function register(program: Command, context: CliContext): void {
  program
    .option('-p, --print [prompt]', 'run a prompt (or what stands on stdin) and print its answer')
    .option('--model <model>', 'model of the run: <provider>/<model>, an id or an alias')
    .option('--agent <type>', 'agent type to run as the main agent')
    .option('--agents <json>', 'agent types as JSON: {"name": {"description": …, "prompt": …}}', parseJson)
    .option('--tools <list>', 'tools the run may use, separated by commas', parseList)
    .option('--disallowed-tools <list>', 'tools the run may not use', parseList)
    .option('--permission-mode <mode>', `what asks for approval: ${PERMISSION_MODE_NAMES.join(', ')}`, parseMode)
    .option('--max-turns <n>', 'turns after which the run ends as partial', parseCount)
    .option('--schema <file>', 'JSON Schema file the answer must fit')
    .addOption(outputFormat())
    .option('--resume <session>', 'go on with a session: with -p a new prompt, without one where it was interrupted')
    .option('--verbose', 'tell every tool call on stderr')
    .action(async (flags: Flags) => {
      if (flags.resume !== undefined) {
        await resume(flags.resume, flags, context)
        return
      }
      const prompt = await promptOf(flags, context)
      if (prompt === null) {
        context.stderr.write(`${program.helpInformation()}\nGive a prompt with -p, or name a command. The interactive view comes in a later version.\n`)
        context.setExitCode(2)
        return
      }
      await run(prompt, flags, context)
    })
}

export const outputFormat = (): Option => new Option('--output-format <format>', 'what stdout carries').choices(['text', 'json', 'stream-json']).default('text')

async function run(prompt: string, flags: Flags, context: CliContext): Promise<void> {
  const outputSchema = flags.schema === undefined ? null : await readSchema(flags.schema)
  await headless(context, flags, (orchestrator, common) => orchestrator.run({
    ...common,
    prompt,
    ...(flags.agent !== undefined && { agent: flags.agent }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.tools && { tools: flags.tools }),
    ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools }),
    ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
    ...(flags.permissionMode && { permissionMode: flags.permissionMode }),
    ...(outputSchema && { outputSchema }),
  }))
}

/** What a session keeps from its first run on. */
const KEPT = ['model', 'agent', 'agents', 'tools', 'disallowedTools', 'permissionMode', 'maxTurns', 'schema'] as const

/** `cadre --resume <session> [-p <prompt>]` and `cadre sessions resume`. */
export async function resume(session: string, flags: Flags, context: CliContext): Promise<void> {
  const kept = KEPT.filter((flag) => flags[flag] !== undefined).map((flag) => `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)
  if (kept.length > 0) throw new CadreError('USAGE', `Drop ${kept.join(', ')}: a resumed session keeps its own.`)
  // Without -p nothing is read: a resumed session may need no prompt.
  const prompt = flags.print === undefined ? null : await promptOf(flags, context)
  await headless(context, flags, (orchestrator, common) => orchestrator.resume({ ...common, session, ...(prompt !== null && { prompt }) }), tellHistory)
}

/** DEL-09: what the agent was told before and this user has not seen. */
function tellHistory({ journal }: Orchestrator, session: string, { stderr }: CliContext): void {
  const notices = [...journal.events({ session, types: ['notification'] })].filter(({ parent }) => parent === null)
  if (notices.length > 0) stderr.write(`A background task finished and was reported to the agent.${notices.length > 1 ? ` (${notices.length} times)` : ''}\n`)
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

/** PRM-01, by any of its names. */
function parseMode(written: string): PermissionMode {
  const mode = permissionModeNamed(written)
  if (mode === undefined) throw new InvalidArgumentError(`It must be one of ${PERMISSION_MODE_NAMES.join(', ')}.`)
  return mode
}

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
