import type { Brief, Reply, Report, ToolCall, ToolOutcome } from './contract.ts'

/**
 * What crosses between the main side (`src/threads`) and an agent's thread (`sandbox/worker.ts`): plain data, but for one port and one flag.
 * `Port` is a Node `MessagePort`; `core` does not name Node's types.
 */

/**
 * One stay of an agent in a thread: its loop goes on from `reply`, until it ends or its host lends the thread to another agent. Without a port
 * others wait already, and all calls of the reply are local: the agent leaves with their outcomes.
 */
export type RunTask<Port> = { readonly brief: Brief; readonly reply: Reply; readonly port: Port | null; readonly stop: StopFlag }

/** Local read calls of an agent whose loop is on the main thread. */
export type CallsTask = { readonly brief: Brief; readonly calls: readonly ToolCall[]; readonly stop: StopFlag }

/** Shared memory: element 0 is not 0 once the agent was told to stop. */
export type StopFlag = Int32Array<SharedArrayBuffer>

/**
 * How a thread answers a `RunTask`. The report is null when the agent left the thread for another, with `outcomes` if it had no port to hand them
 * in; `error` is the text of what its loop threw.
 */
export type RunAnswer =
  | { readonly ok: true; readonly report: Report | null; readonly outcomes?: readonly ToolOutcome[] }
  | { readonly ok: false; readonly error: string }

/**
 * The only methods a thread can call on the main side (SHL-07). Like `Host`, but nothing crosses twice: `call` names calls of the last reply
 * by id, because the main side has them, and `next` leaves out the outcomes the main side itself gave. `next` resolves with null when the reply
 * is still to come and another agent needs the thread: the loop goes on from the reply in its next stay, in whatever thread.
 */
export type ThreadHost = {
  next(outcomes: readonly ToolOutcome[]): Promise<Reply | null>
  call(ids: readonly string[]): Promise<readonly ToolOutcome[]>
}
