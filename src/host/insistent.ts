import type { Host, Reply } from '../core/contract.ts'

/**
 * A host whose reply without calls is the run's last only when `isLast` says so; else the agent has one more turn, in which it reads what was
 * put into its mailbox meanwhile.
 */
export const insistent = (host: Host, isLast: (reply: Reply) => Promise<boolean> | boolean): Host => ({
  ...host,
  async next(outcomes) {
    let reply = await host.next(outcomes)
    while (reply.calls.length === 0 && !(await isLast(reply))) reply = await host.next([])
    return reply
  },
})
