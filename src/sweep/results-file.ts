import { mkdir, mkdtemp, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CadreError } from '../core/errors.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { cannotWrite } from './cannot-write.ts'
import type { Outcome } from './outcome.ts'

export const RESULTS_NAME = 'results.jsonl'
/**
 * Where a new `results.jsonl` grows until it holds everything that is skipped this time. One name: what a kill left here is overwritten.
 */
export const UNPUBLISHED_NAME = '.results.jsonl.new'

/** The results of one sweep, one JSON line per run, readable while it grows. */
export type ResultsFile = {
  /** Appends one line. Rejects when the disk does. */
  append(outcome: Outcome, findings: number): Promise<void>
  /** Puts the file in the place of an earlier sweep's, atomically; further lines go on being appended to it. */
  publish(): Promise<void>
  /** The lines in the order of the items, whatever order they were written in. */
  lines(which?: 'all' | 'with findings'): AsyncIterable<JsonObject>
  close(): Promise<void>
}

/** Opens a new results file in `folder`, made if it is missing; `null`: a temporary one that is gone after `close`. */
export async function createResultsFile(folder: string | null, batch: number): Promise<ResultsFile> {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'cadre-sweep-')))
  let path = join(home, UNPUBLISHED_NAME)
  const handle = await openNew(path)
  const places: ({ readonly at: number; readonly bytes: number; readonly findings: number } | undefined)[] = []
  let end = 0
  let writing = Promise.resolve()

  return {
    append(outcome, findings) {
      const bytes = Buffer.from(`${JSON.stringify(lineOf(outcome, batch))}\n`)
      const at = end
      end += bytes.length
      places[outcome.index] = { at, bytes: bytes.length, findings }
      // One write after the other: a kill can tear the last line only.
      writing = writing.then(async () => {
        try {
          await writeAll(handle, bytes, at)
        } catch (error) {
          throw cannotWrite(path, error)
        }
      })
      return writing
    },
    async publish() {
      await writing
      if (folder === null) return
      await rename(path, join(folder, RESULTS_NAME))
      path = join(folder, RESULTS_NAME)
    },
    async *lines(which = 'all') {
      await writing
      for (const place of places) if (place && (which === 'all' || place.findings > 0)) yield await readLine(handle, place)
    },
    async close() {
      await writing.catch(() => undefined) // whoever appended has heard of it
      await handle.close()
      if (folder === null) await rm(home, { recursive: true, force: true })
      else if (path.endsWith(UNPUBLISHED_NAME)) await rm(path, { force: true })
    },
  }
}

/** What every line has beside its items: by this a sweep knows its own file from one of the user's. */
export const RESULT_FIELDS = ['status', 'cause', 'error', 'agent', 'costUsd', 'durationMs'] as const

/** One line of `results.jsonl`: `item`, or `items` when agents get several; `value`, or `output` where there is none. */
function lineOf({ items, result, cached }: Outcome, batch: number): JsonObject {
  return {
    ...(batch === 1 ? { item: items[0] } : { items }),
    status: result.status,
    cause: result.cause,
    ...(result.value === null ? { output: result.output } : { value: result.value }),
    error: result.error,
    agent: result.agentId,
    costUsd: result.costUsd,
    durationMs: result.durationMs,
    ...(cached ? { cached } : {}),
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true })
    return await open(path, 'w+')
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written, at + written)).bytesWritten
  }
}

async function readLine(handle: FileHandle, { at, bytes }: { readonly at: number; readonly bytes: number }): Promise<JsonObject> {
  const { buffer } = await handle.read(Buffer.alloc(bytes), 0, bytes, at)
  const value = JSON.parse(buffer.toString()) as Json
  if (!isObject(value)) throw new CadreError('INVARIANT', `The line at byte ${at} of ${RESULTS_NAME} is no result.`)
  return value
}
