import { readFile } from 'node:fs/promises'
import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'
import type { FoundFile } from './agent-tree.ts'

/** Bytes of an agent file: a role prompt is a few KB. */
export const MAX_FILE_BYTES = 1_048_576

/** The text of an agent file, or what keeps it from being read. */
export async function agentText({ path, bytes }: Pick<FoundFile, 'path' | 'bytes'>): Promise<string | Diagnostic> {
  const problem = (severity: Diagnostic['severity'], message: string, remedy: string): Diagnostic =>
    ({ path, line: 1, severity, message, remedy })
  const tooLarge = problem('error', 'the file is over 1 MB', 'skipped; an agent file is a role prompt, move the rest to files it can read')
  if (bytes > MAX_FILE_BYTES) return tooLarge
  try {
    const content = await readFile(path)
    if (content.length > MAX_FILE_BYTES) return tooLarge
    if ((content[0] === 0xff && content[1] === 0xfe) || (content[0] === 0xfe && content[1] === 0xff)) {
      return problem('error', 'the file is UTF-16', 'skipped; save it as UTF-8')
    }
    return decode(content) ?? problem('error', 'the file is not UTF-8', 'skipped; save it as UTF-8')
  } catch (error) {
    return problem('warning', `cannot be read: ${messageOf(error)}`, 'skipped; check the permissions')
  }
}

/** The BOM stays: the version's hash is of the whole text. */
function decode(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}
