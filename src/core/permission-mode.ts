import type { PermissionMode } from './agent-type.ts'

/** Every way to write a permission mode, with the mode it means (PRM-01). */
const MODES: Readonly<Record<string, PermissionMode>> = {
  default: 'default',
  acceptEdits: 'acceptEdits',
  auto: 'auto',
  dontAsk: 'dontAsk',
  plan: 'plan',
  bypassPermissions: 'bypassPermissions',
  manual: 'default',
  build: 'default',
  explore: 'plan',
  danger: 'bypassPermissions',
}

export const PERMISSION_MODE_NAMES: readonly string[] = Object.keys(MODES)

/** The mode a name means, or undefined for a name that means none. */
export const permissionModeNamed = (name: string): PermissionMode | undefined => (Object.hasOwn(MODES, name) ? MODES[name] : undefined)
