import { CommanderError } from 'commander'
import { CadreError } from '../core/errors.ts'
import type { FinalStatus } from '../core/status.ts'

/** CMD-03. */
export const EXIT = { completed: 0, failed: 1, usage: 2, partial: 3, interrupted: 130 } as const

const OF_STATUS: Readonly<Record<FinalStatus, number>> = {
  completed: EXIT.completed,
  partial: EXIT.partial,
  failed: EXIT.failed,
  killed: EXIT.failed,
  lost: EXIT.failed,
}

export const exitCodeOfStatus = (status: FinalStatus): number => OF_STATUS[status]

/** The exit code for what ended a command: what the user can mend by another command line or setting is 2, all else 1. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
  if (!(error instanceof CadreError)) return EXIT.failed
  switch (error.code) {
    case 'USAGE':
    case 'SETTINGS':
    case 'UNKNOWN_TYPE':
    case 'UNKNOWN_PROVIDER':
    case 'REFUSED':
    case 'NOT_FOUND':
      return EXIT.usage
    default:
      return EXIT.failed
  }
}
