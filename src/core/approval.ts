import type { JsonObject } from './json.ts'

/** A call that asks, as whoever may approve it is told (PRM-07). */
export type ApprovalRequest = {
  /** One part per layer of delegation, the call's own last (PRM-09). */
  readonly id: string
  /** The asker's path by agent types, without the root run: `releaser/operator`; `main` for the root run itself. */
  readonly agent: string
  readonly tool: string
  readonly input: JsonObject
  /** `releaser/operator wants to run bash: npm publish`. */
  readonly question: string
  readonly why: string
}

/** What somebody said. `reason`: for the model, when it was denied. */
export type ApprovalAnswer = { readonly approved: boolean; readonly reason?: string }
