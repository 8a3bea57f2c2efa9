import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { ToolAnswer } from '../../src/core/tool.ts'
import type { MainContext, Tool } from '../../src/tools/define-tool.ts'
import { readFunctions } from '../../src/tools/reading/index.ts'
import { contextOf } from './place.ts'

const absent = (what: string) => (): never => {
  throw new Error(`this test hands in no ${what}`)
}

/** A MainContext in which every part a test does not give throws when it is used. */
export const mainContext = (given: Partial<MainContext> & { readonly root: string }): MainContext => ({
  paths: [],
  signal: new AbortController().signal,
  callId: 'call',
  delegate: absent('delegation'),
  companions: { send: absent('companions'), stop: absent('companions'), wait: absent('companions'), list: absent('companions'), check: absent('companions') },
  blame: absent('blame'),
  program: absent('program'),
  files: { hashOf: absent('files'), seenText: absent('files') },
  shell: { run: absent('shell') },
  web: { lookup: absent('web'), allows: absent('web') },
  memory: null,
  todo: { replace: absent('todo') },
  ...given,
})

/** Runs a tool as the main side does: input checked first, a failure as its text. */
export async function say(tool: Tool, input: JsonObject, context: MainContext): Promise<string> {
  return (await outcome(tool, input, context)).text
}

export async function outcome(tool: Tool, input: JsonObject, context: MainContext): Promise<ToolAnswer> {
  const checked = tool.check(input)
  if ('error' in checked) return { text: `Error: ${tool.name}: ${checked.error}`, ok: false }
  try {
    if (!tool.run) throw new Error(`${tool.name} has no run`)
    return await tool.run(checked.input, context)
  } catch (error) {
    return { text: `Error: ${messageOf(error)}`, ok: false }
  }
}

/** An agent that notes what it read and wrote from its outcomes, as a session does. */
export function agentIn(root: string, given: Partial<MainContext> = {}) {
  const seen = new Map<string, { readonly hash: string; readonly text: string }>()
  const context = mainContext({
    root,
    files: { hashOf: (path) => seen.get(path)?.hash ?? null, seenText: (path) => seen.get(path)?.text ?? null },
    ...given,
  })
  const note = (answer: ToolAnswer) => {
    for (const { path, hash } of answer.reads ?? []) seen.set(path, { hash, text: readFileSync(resolve(root, path), 'utf8') })
    return answer.text
  }
  return {
    seen,
    read: async (path: string) => note(await readFunctions.read({ path }, contextOf(root, 'text', context.paths))),
    use: async (tool: Tool, input: JsonObject) => note(await outcome(tool, input, context)),
    context,
  }
}
