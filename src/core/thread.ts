import type { Brief, Reply, Report, ToolCall, ToolOutcome } from './contract.ts'

/**
 * What crosses between the main side (`src/threads`) and an agent's thread (`sandbox/worker.ts`): plain data, but for one port and one flag.
 * `Port` is a Node `MessagePort`; `core` does not name Node's types.
 */
export type RunTask<Port> = { readonly brief: Brief; readonly port: Port; readonly stop: StopFlag }

/** Local read calls of an agent whose loop is on the main thread. */
export type CallsTask = { readonly brief: Brief; readonly calls: readonly ToolCall[]; readonly stop: StopFlag }

/** Shared memory: element 0 is not 0 once the agent was told to stop. */
export type StopFlag = Int32Array<SharedArrayBuffer>

/** How a thread answers a `RunTask`. `error` is the text of what its loop threw. */
export type RunAnswer = { readonly ok: true; readonly report: Report } | { readonly ok: false; readonly error: string }

/**
 * The only methods a thread can call on the main side (SHL-07). Like `Host`, but nothing crosses twice: `call` names calls of the last reply
 * by id, because the main side has them, and `next` leaves out the outcomes the main side itself gave.
 */
export type ThreadHost = {
  next(outcomes: readonly ToolOutcome[]): Promise<Reply>
  call(ids: readonly string[]): Promise<readonly ToolOutcome[]>
}
