import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentType } from '../core/agent-type.ts'
import { isObject } from '../core/json.ts'

/** In a folder of agent files: what the build read of them, by the SHA-256 of each file's text. There is none where nothing was built. */
export const PARSED_FILE = 'parsed.json'

/** What a file says, apart from where it stands. */
export type ParsedBefore = Readonly<Record<string, Omit<AgentType, 'path'>>>

/** What was read of the built-in types when Cadre was built: reading YAML again costs as much as all else a command does before its first request. */
export async function parsedBefore(folder: string): Promise<ParsedBefore> {
  try {
    // Written by our own build of these very files; a file that was changed since has another hash, and is read as any other.
    const parsed: unknown = JSON.parse(await readFile(join(folder, PARSED_FILE), 'utf8'))
    return isObject(parsed) ? (parsed as unknown as ParsedBefore) : {}
  } catch {
    return {}
  }
}
