import { nearest } from '../core/nearest.ts'
import type { FieldName } from './agent-fields.ts'
import { agentFields } from './agent-fields.ts'

/** The fields as a file spells them. */
const FILE_NAMES = Object.keys(agentFields.shape).map((name) => (name === 'cacheTtl' ? 'experimental.cacheTtl' : name))

const isField = (name: string): name is FieldName => Object.hasOwn(agentFields.shape, name)

/** The schema's name of a key as written, undefined for an unknown one. Exact: case counts (TYP-12). */
export function fieldOf(key: string): FieldName | undefined {
  if (key === 'experimental.cacheTtl') return 'cacheTtl'
  return isField(key) && key !== 'cacheTtl' ? key : undefined
}

/** Names other tools use for a field of ours. The nearest by spelling would be wrong, for `allowed-tools` even the opposite. */
const FOREIGN: Readonly<Record<string, FieldName>> = { allowedtools: 'tools', tool: 'tools' }

const plain = (key: string): string => key.toLowerCase().replaceAll(/[\s_-]/g, '')

/** The field a key is another spelling of: other case, `-` or `_`, or a name other tools use. What `--fix` may rename it to. */
export function respelled(key: string): string | undefined {
  if (fieldOf(key)) return undefined
  const foreign = Object.hasOwn(FOREIGN, plain(key)) ? FOREIGN[plain(key)] : undefined
  return foreign ?? FILE_NAMES.find((name) => plain(name) === plain(key))
}

/** The known field a reader probably meant. */
export const nearestField = (key: string): string | undefined => respelled(key) ?? nearest(key, FILE_NAMES)
