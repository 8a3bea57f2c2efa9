/** What an agent is doing, and how it ended (KIN-09). The first final status wins and never changes. */
export type LiveStatus = 'queued' | 'running' | 'waiting'

export type Ending =
  | { readonly status: 'completed'; readonly cause: null }
  | { readonly status: 'partial'; readonly cause: 'max_turns' | 'budget' | 'timeout' }
  | { readonly status: 'failed'; readonly cause: 'model' | 'rate_limit' | 'output_schema' | 'program' | 'crashed' | 'setup' }
  | { readonly status: 'killed'; readonly cause: 'user' | 'parent' }
  | { readonly status: 'lost'; readonly cause: null }

export type FinalStatus = Ending['status']
export type Cause = Exclude<Ending['cause'], null>

export const COMPLETED: Ending = { status: 'completed', cause: null }

/** `failed (crashed)`, or the bare status where it has no cause. */
export const describeEnding = ({ status, cause }: Ending): string => (cause ? `${status} (${cause})` : status)

/** An ending together with the sentence a person or a parent model reads. */
export type Stop = { readonly ending: Ending; readonly reason: string }

/** KIN-15. */
export const PARENT_ENDED: Stop = { ending: { status: 'killed', cause: 'parent' }, reason: 'The agent that started it ended.' }

/** STR-04, 10: it is never continued. */
export const STOPPED_BY_PARENT: Stop = { ending: { status: 'killed', cause: 'parent' }, reason: 'The agent that started it stopped it.' }

export const STOPPED_BY_USER: Stop = { ending: { status: 'killed', cause: 'user' }, reason: 'The user stopped it.' }
