import { isBusy, journalFault } from './fault.ts'

/** Tries of a read while another process repairs or closes the file; each waits a few milliseconds by itself. */
const READ_TRIES = 100

/** Runs a query; its faults come out as JOURNAL errors. Readers wait for no writer, only for a repair after a crash. */
export function read<Result>(file: string, query: () => Result): Result {
  for (let tries = 1; ; tries += 1) {
    try {
      return query()
    } catch (error) {
      if (!isBusy(error) || tries === READ_TRIES) throw journalFault(file, 'read', error)
    }
  }
}
