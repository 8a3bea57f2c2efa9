import { ChildProcess } from 'node:child_process'
import { CadreError } from '../core/errors.ts'

/**
 * The child process of one of Tinypool's workers. Tinypool keeps it to itself, so package.json names the one version whose insides are known;
 * with any other, programs could neither be ended nor silenced: throws ISOLATE_UNAVAILABLE instead of running one.
 */
export function processOf(worker: object | undefined): ChildProcess {
  const child: unknown = worker && Reflect.get(worker, 'process')
  if (child instanceof ChildProcess) return child
  throw new CadreError(
    'ISOLATE_UNAVAILABLE',
    'The installed tinypool does not show the process of a worker, so no program can be run safely. ' +
      'Install the version that Cadre’s package.json names, with `npm ci`.',
  )
}
