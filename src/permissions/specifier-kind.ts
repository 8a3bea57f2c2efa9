import { toolsNamed } from '../core/tool-names.ts'

/** What a tool's specifiers are about: a path, a shell command, the host of a URL, an agent type; `none`: it takes no specifier. */
export type SpecifierKind = 'path' | 'command' | 'domain' | 'type' | 'none'

const KINDS: Readonly<Record<string, SpecifierKind>> = {
  read: 'path', ls: 'path', glob: 'path', grep: 'path', write: 'path', edit: 'path', bash: 'command', web_fetch: 'domain', agent: 'type',
}

/** By a tool's own name. */
export const kindOf = (tool: string): SpecifierKind => (Object.hasOwn(KINDS, tool) ? (KINDS[tool] ?? 'none') : 'none')

/** By a name of either table. */
export const kindNamed = (name: string): SpecifierKind => kindOf(toolsNamed(name, [])[0] ?? name)
