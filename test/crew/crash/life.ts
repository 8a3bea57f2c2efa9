import type { AgentResult } from '../../../src/core/result.ts'

/** What `fixtures/harness.ts` is to do: a run, or the resume of the run there was. It dies of SIGKILL the moment event number `killAt` of it is told; 0: never. */
export type Life = { readonly built: string; readonly folder: string; readonly url: string; readonly kind: 'run' | 'resume'; readonly killAt: number }

/** What a life that was not killed prints. `left`: agents that are still alive. */
export type LifeEnd = { readonly events: number; readonly left: number } & (
  { readonly result: AgentResult } | { readonly error: { readonly code: string; readonly message: string } })
