import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { Message, ToolCall, ToolOutcome } from '../../src/core/contract.ts'
import { messageOf } from '../../src/core/errors.ts'
import type { Json } from '../../src/core/json.ts'
import { firstProgram } from '../../src/definitions/first-program.ts'
import { createPrograms } from '../../src/programs/programs.ts'
import { scriptModel } from '../../src/programs/script-model.ts'
import { blame as blameTool } from '../../src/tools/blame.ts'
import { glob } from '../../src/tools/glob.ts'
import { grep } from '../../src/tools/grep.ts'
import { ls } from '../../src/tools/ls.ts'
import { read } from '../../src/tools/read.ts'
import { readFunctions } from '../../src/tools/reading/index.ts'
import { blame } from '../../worktrees/blame.ts'
import type { Git } from '../../worktrees/git.ts'
import { openGit } from '../../worktrees/git.ts'

/** A program of `agents/` over real files: the real isolate, the real read tools, the real git. */
export type ProgramRun = { readonly value: Json | undefined; readonly turns: number; readonly calls: readonly ToolCall[]; readonly outcomes: readonly ToolOutcome[] }

let programs: ReturnType<typeof createPrograms> | undefined

/** For `afterAll`: each file of tests has isolate processes of its own. */
export async function closePrograms(): Promise<void> {
  await programs?.close()
  programs = undefined
}

/** `time` is what the program's clock shows; `instead` answers a call before the tool would, where it gives a text. */
type RunOptions = { readonly time?: number; readonly instead?: (call: ToolCall) => string | null }

/** Runs a built-in program on a folder. Rejects as the program does. */
export async function runProgram(name: string, root: string, prompt: Json, options: RunOptions = {}): Promise<ProgramRun> {
  const path = fileURLToPath(new URL(`../../agents/${name}.md`, import.meta.url))
  const markdown = readFileSync(path, 'utf8')
  const program = firstProgram(markdown, 1)
  if (program === null) throw new Error(`${name} has no program`)
  const git = openGit(root)
  programs ??= createPrograms()
  const granted = /^tools: (.*)$/m.exec(markdown)?.[1]?.toLowerCase().split(', ') ?? []
  const model = scriptModel({ programs, type: { name, path, program }, tools: granted, seed: 1, prompt: typeof prompt === 'string' ? prompt : JSON.stringify(prompt) })
  const messages: Message[] = []
  const all: { calls: ToolCall[]; outcomes: ToolOutcome[] } = { calls: [], outcomes: [] }
  try {
    for (let turn = 1; ; turn += 1) {
      const reply = await model.generate(
        { agent: 'sa-test', turn, time: options.time ?? Date.now(), system: '', tools: [], messages },
        { signal: new AbortController().signal, onDelta() {} },
      )
      if (reply.calls.length === 0) return { value: reply.value, turns: turn, ...all }
      const outcomes = await Promise.all(reply.calls.map(async (call) => {
        const text = options.instead?.(call) ?? null
        return text === null ? answer(call, root, git) : { callId: call.id, tool: call.name, ok: true, text }
      }))
      all.calls.push(...reply.calls)
      all.outcomes.push(...outcomes)
      messages.push({ role: 'assistant', text: reply.text, calls: reply.calls, ...(reply.opaque !== undefined && { opaque: reply.opaque }) }, { role: 'tool', outcomes })
    }
  } finally {
    await model.close?.()
  }
}

const TOOLS = new Map([read, ls, glob, grep, blameTool].map((tool) => [tool.name, tool]))

/** What the main side and the agent's thread do with a call: check it, run it, make a failure an outcome. */
async function answer(call: ToolCall, root: string, git: Git): Promise<ToolOutcome> {
  const context = { root, paths: [], form: 'data', stopped: () => false } as const
  const checked = TOOLS.get(call.name)?.check(call.input) ?? { error: `Unknown tool ${call.name}` }
  if ('error' in checked) throw new Error(`the program called ${call.name} with bad input: ${checked.error}`)
  const input = checked.input as never // what the schema says, which is what the function takes
  try {
    const { text } = call.name === 'blame' ? { text: await blamed(git, checked.input) } : await functionOf(call.name)(input, context)
    return { callId: call.id, tool: call.name, ok: true, text }
  } catch (error) {
    return { callId: call.id, tool: call.name, ok: false, text: `Error: ${messageOf(error)}` }
  }
}

function functionOf(name: string) {
  if (name === 'read' || name === 'ls' || name === 'glob' || name === 'grep') return readFunctions[name]
  throw new Error(`${name} does not run in the agent's thread`)
}

async function blamed(git: Git, input: Json): Promise<string> {
  const { path, lines } = input as { path: string; lines: readonly number[] }
  return JSON.stringify(await blame(git, path, lines))
}
