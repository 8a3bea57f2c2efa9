import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

import type { ReadContext, ReadFunction } from '../../src/core/tool.ts'

/** A temporary folder for one test, with files in it. */
export type TestRoot = { readonly root: string; put(path: string, content?: string | Buffer): string }

export function testRoot(files: Readonly<Record<string, string | Buffer>> = {}): TestRoot {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-reading-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const put = (path: string, content: string | Buffer = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
    return join(root, path)
  }
  for (const [path, content] of Object.entries(files)) put(path, content)
  return { root, put }
}

/** What a read tool gets in an agent's thread. */
export const contextOf = (root: string, form: 'text' | 'data' = 'text', paths: readonly string[] = []): ReadContext => ({ root, paths, form, stopped: () => false })

/** The text of a read tool's answer, or `Error: …` as the runner would say it. */
export async function textOf<Input>(tool: ReadFunction<Input>, input: Input, context: ReadContext): Promise<string> {
  try {
    return (await tool(input, context)).text
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The parsed answer of a read tool to a program. */
export async function dataOf<Input>(tool: ReadFunction<Input>, input: Input, root: string): Promise<Record<string, unknown>> {
  return JSON.parse((await tool(input, contextOf(root, 'data'))).text) as Record<string, unknown>
}
