/** Callers in order of arrival, each of whom can give up while it waits. */
export type Line = {
  /** How many wait. */
  readonly length: number
  /**
   * Waits to be admitted, then runs `begin` in that very moment, so that whoever admits can count it at once. Resolves with what `begin` gives;
   * rejects with the signal's reason when that aborts before. `first`: ahead of all that wait.
   */
  join<Value>(signal: AbortSignal, begin: () => Value | Promise<Value>, first?: boolean): Promise<Value>
  /** Admits the next one, if there is one. */
  admit(): void
}

export function createLine(): Line {
  const waiting: (() => void)[] = []
  return {
    get length() {
      return waiting.length
    },
    join(signal, begin, first = false) {
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      return new Promise((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener('abort', leave)
          resolve(begin())
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1)
          reject(signal.reason as Error)
        }
        signal.addEventListener('abort', leave, { once: true })
        if (first) waiting.unshift(enter)
        else waiting.push(enter)
      })
    },
    admit: () => waiting.shift()?.(),
  }
}
