/** Stable codes of the errors Cadre throws. A caller switches on these, never on a message. */
export type ErrorCode =
  | 'USAGE' // a command, flag or option that cannot be used as given
  | 'SETTINGS' // a setting, key or model that is missing or wrong
  | 'UNKNOWN_TYPE'
  | 'UNKNOWN_PROVIDER'
  | 'NOT_FOUND' // a session, file or item that does not exist
  | 'REFUSED' // a delegation that was refused before anything existed
  | 'MODEL' // a provider failed for good
  | 'RATE_LIMIT' // a provider refused for good because of its rate limit
  | 'PROGRAM' // a program of an agent type failed or broke a limit
  | 'CRASHED' // a worker thread or child process ended unexpectedly
  | 'GUARD' // the far side of a port asked for something not on its list
  | 'STOPPED' // the run was ended from outside: see its status
  | 'ISOLATE_UNAVAILABLE'
  | 'SHELL' // a shell that cannot be confined, started or used any more
  | 'JOURNAL'
  | 'INVARIANT' // a fault of our own

/** An error that says what failed, on what, and what to do. */
export class CadreError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CadreError'
    this.code = code
  }
}

/** The text of anything that was thrown, hostile values included: never throws itself. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message || error.name
    return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error))
  } catch {
    return 'an error that cannot be printed'
  }
}
