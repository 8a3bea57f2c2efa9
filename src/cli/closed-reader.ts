import { messageOf } from '../core/errors.ts'
import type { CliContext, CliStream } from './context.ts'

/**
 * What becomes of a command whose output nobody takes any more. A reader that has seen enough (`cadre … | head`) is no fault: the command
 * goes on to its orderly end, unheard. Anything else, such as a full disk, is told on stderr and fails the command.
 */
export function watchReader({ stdout, stderr, setExitCode }: Pick<CliContext, 'stdout' | 'stderr' | 'setExitCode'>): void {
  stdout.on('error', (error: unknown) => {
    if (isClosedReader(error)) return
    stderr.write(`cadre: the output cannot be written: ${messageOf(error)}\n`)
    setExitCode(1)
  })
  stderr.on('error', () => {
    // Nobody is left to tell.
  })
}

/** Resolves when all that was written has been taken, or has failed and `watchReader` was told. */
export const written = (stream: CliStream): Promise<void> => new Promise((resolve) => void stream.write('', () => resolve()))

const isClosedReader = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
