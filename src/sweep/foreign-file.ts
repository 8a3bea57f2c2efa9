import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { isObject } from '../core/json.ts'
import { REPORT_HEAD } from './markdown-report.ts'
import { RESULT_FIELDS } from './results-file.ts'
import { SARIF_HEAD } from './sarif.ts'

/** Bytes looked at from the start of a file: more than a line of results usually has. */
const HEAD_BYTES = 1024 * 1024

/**
 * What tells a file of each kind that a sweep wrote from one of the user's, by how it begins. Results grow line by line, so a kill may have left
 * a part of the first line and nothing else.
 */
const OURS = {
  report: (head: string) => head.startsWith(REPORT_HEAD),
  sarif: (head: string) => head.startsWith(SARIF_HEAD),
  results(head: string) {
    const end = head.indexOf('\n')
    if (end < 0) return ['{"item":', '{"items":'].some((begin) => head.startsWith(begin) || begin.startsWith(head))
    return isResult(head.slice(0, end))
  },
} as const

/** Whether something stands at `path` that no sweep wrote, and that one would overwrite. An empty file is nobody's. */
export async function isForeign(path: string, kind: keyof typeof OURS): Promise<boolean> {
  // Without O_NONBLOCK, opening a FIFO waits for whoever writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (handle === null) return false // not there; or not readable, then writing it says why
  try {
    if (!(await handle.stat()).isFile()) return true
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return bytesRead > 0 && !OURS[kind](buffer.toString('utf8', 0, bytesRead))
  } finally {
    await handle.close()
  }
}

function isResult(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) && ('item' in value || 'items' in value) && RESULT_FIELDS.every((field) => field in value)
  } catch {
    return false
  }
}
