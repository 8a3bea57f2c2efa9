import type { FieldName } from './agent-fields.ts'
import type { Place } from './place.ts'
import type { Ignored } from './read-fields.ts'

/** What a definition must not bring along: code to run, servers to start, rights to take. */
const RISKY: ReadonlySet<FieldName> = new Set(['hooks', 'mcpServers', 'permissionMode'])

/** Fields of a plugin (SCO-05) or of an untrusted root (SCO-06) that are ignored, and what to say. */
export function isIgnored(field: FieldName, value: unknown, at: Place): ReturnType<Ignored> {
  if (at.scope === 'plugin' && RISKY.has(field)) {
    const message = `${field} ignored: plugin "${at.plugin ?? at.root}" may not set it`
    return { severity: 'note', message, remedy: 'copy the file to ~/.cadre/agents to use it' }
  }
  if (at.trusted || !(RISKY.has(field) || (field === 'memory' && value === 'user'))) return undefined
  const shown = field === 'memory' ? 'memory: user' : field
  return { severity: 'warning', message: `${shown} ignored: ${at.root} is not trusted`, remedy: 'run "cadre trust"' }
}
