/** `read({path, offset?, limit?})` (TOO-03). `offset` is the first line wanted, 1-based. */
export type ReadInput = { readonly path: string; readonly offset?: number | undefined; readonly limit?: number | undefined }

/** `ls({path?, ignored?})` (TOO-04). `ignored: true` also lists `.git` and what git ignores. */
export type LsInput = { readonly path?: string | undefined; readonly ignored?: boolean | undefined }

/** `glob({pattern, path?})` (TOO-04). The pattern is relative to `path`; `offset` and `limit` page through the sorted paths. */
export type GlobInput = {
  readonly pattern: string
  readonly path?: string | undefined
  readonly ignored?: boolean | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/** `grep({pattern, …})` (TOO-05). `offset` and `limit` count matching lines, or files in the modes `files` and `count`. */
export type GrepInput = {
  readonly pattern: string
  readonly path?: string | undefined
  readonly glob?: string | undefined
  readonly mode?: 'lines' | 'files' | 'count' | undefined
  /** Lines shown before and after each match. */
  readonly context?: number | undefined
  readonly ignore_case?: boolean | undefined
  readonly ignored?: boolean | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}
