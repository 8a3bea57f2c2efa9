/** Stable codes of what this room throws; everything expected is a value. */
export type WorktreeErrorCode =
  | 'SYMLINK' // a part of `.cadre/worktrees` is a link (WKT-07)
  | 'OWN_PROGRAMS' // the repository's configuration names programs that git would run
  | 'UNMERGED' // an agent left a merge half done
  | 'BRANCH' // an agent's HEAD and its branch went different ways
  | 'LOCKED' // another process holds what is needed, and does not let go
  | 'NO_CHECKOUT' // there is no repository, or no such branch in it
  | 'ABANDONED' // a landing that was cut off could be neither finished nor undone

/** An error that says what failed, on what, and what to do. */
export class WorktreeError extends Error {
  readonly code: WorktreeErrorCode

  constructor(code: WorktreeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WorktreeError'
    this.code = code
  }
}
