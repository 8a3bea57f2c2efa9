import { availableParallelism } from 'node:os'
import { createLine } from '../core/line.ts'

/**
 * A process costs 100 ms of CPU to start and 80 MB, a short program in a warm one 5 ms. So as many programs are let in at a time as can make use of
 * the machine, one of them giving back its process; beside those that have been in for `slowMs`, because they wait for something or work for long.
 */
export const TURNS = { working: availableParallelism() + 1, slowMs: 200 }

/** A program that was let in. */
export type Turn = {
  /** Its process has taken it: from now on it can be slow. However long a process takes to start, another is not sooner there. */
  began(): void
  /** Its process is free again, or gone. */
  leave(): void
}

/** The line in front of the isolate processes. */
export type Turns = {
  /** Resolves when a program may begin, in order of arrival. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Turn>
}

export function createTurns(): Turns {
  /** When each program inside began, in ms of `performance.now`; null while it waits for its process. */
  const inside = new Map<symbol, number | null>()
  const line = createLine()
  let look: NodeJS.Timeout | undefined

  function letIn(): Turn {
    const program = Symbol('program')
    inside.set(program, null)
    return {
      began() {
        inside.set(program, performance.now())
      },
      leave() {
        inside.delete(program)
        pump()
      },
    }
  }

  function isRoom(): boolean {
    const slow = performance.now() - TURNS.slowMs
    let quick = 0
    for (const since of inside.values()) if (since === null || since > slow) quick += 1
    return quick < TURNS.working
  }

  function pump(): void {
    while (line.length > 0 && isRoom()) line.admit()
    clearTimeout(look)
    if (line.length > 0) look = setTimeout(pump, TURNS.slowMs)
  }

  return {
    enter(signal) {
      const turn = line.join(signal, letIn)
      pump()
      return turn
    },
  }
}
