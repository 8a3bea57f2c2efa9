import { CadreError } from './errors.ts'
import type { Stop } from './status.ts'

/** A run was ended on purpose (limit, timeout, user, parent): not a fault. Carries its final status. */
export class Stopped extends CadreError {
  readonly stop: Stop

  constructor(stop: Stop) {
    super('STOPPED', stop.reason)
    this.name = 'Stopped'
    this.stop = stop
  }
}
