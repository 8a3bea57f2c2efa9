/** One thing doctor looked at. `broken`: something does not work; `warning`: something is missing or weaker than it could be. */
export type Check = {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'broken'
  readonly found: string
  /** What to do about it; null when there is nothing to do. */
  readonly remedy: string | null
}

export const ok = (name: string, found: string): Check => ({ name, state: 'ok', found, remedy: null })
export const warning = (name: string, found: string, remedy: string): Check => ({ name, state: 'warning', found, remedy })
export const broken = (name: string, found: string, remedy: string): Check => ({ name, state: 'broken', found, remedy })
