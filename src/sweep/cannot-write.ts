import { CadreError, messageOf } from '../core/errors.ts'

/** The error of a disk that does not take a sweep's files: what had finished is in the journal all the same. */
export const cannotWrite = (path: string, cause: unknown): CadreError =>
  new CadreError(
    'USAGE',
    `${path} cannot be written: ${messageOf(cause)}. Make room or choose another --out, then run the same command again: ` +
      'what has finished is kept and skipped.',
    { cause },
  )
