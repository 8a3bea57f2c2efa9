/**
 * Settings that SPEC names and this version knows but does not act on yet: writing one is no mistake, but it must not look as if it worked.
 * Take a line out when its feature comes. A name stands for all below it.
 */
export const LATER: readonly string[] = [
  'limits.stopHookBlocks',
  'budget',
  'hooks',
  'mcpServers',
  'worktrees.batch',
  'disableAllHooks',
  'allowManagedHooksOnly',
  'allowedHttpHookUrls',
  'allowedMcpServers',
  'deniedMcpServers',
]

export const comesLater = (name: string): boolean => LATER.some((key) => name === key || name.startsWith(`${key}.`))
