/**
 * Settings that SPEC names and this version knows but does not act on yet: writing one is no mistake, but it must not look as if it worked.
 * Take a line out when its feature comes. A name stands for all below it.
 */
export const LATER: readonly string[] = [
  'limits.maxBackground',
  'limits.launchPerSecond',
  'limits.gateWait',
  'limits.stopHookBlocks',
  'limits.wait',
  'budget',
  'permissions',
  'approvals',
  'approvalTimeout',
  'hooks',
  'mcpServers',
  'delivery',
  'tasks',
  'delegation',
  'verify',
  'bash',
  'sandbox',
  'shell',
  'worktrees',
  'instructions',
  'compactAt',
  'disableAllHooks',
  'allowManagedHooksOnly',
  'allowedHttpHookUrls',
  'allowedMcpServers',
  'deniedMcpServers',
]

/** Environment variables of those. */
export const LATER_VARIABLES: readonly string[] = ['CADRE_APPROVALS', 'CADRE_SANDBOX', 'CADRE_TASK_NOTIFY']

export const comesLater = (name: string): boolean => LATER.some((key) => name === key || name.startsWith(`${key}.`))
