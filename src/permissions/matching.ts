import { typeKey } from '../core/agent-type.ts'
import { isKnownTool, toolsNamed } from '../core/tool-names.ts'
import { commandAllowed, commandTouched } from './command-pattern.ts'
import { domainAllowed, domainTouched } from './domain-pattern.ts'
import { pathAllowed, pathTouched, pathTouchedBelow } from './path-pattern.ts'
import { pathsBehind, workingRoot } from './place.ts'
import type { Place } from './place.ts'
import type { Rule } from './rule.ts'
import { isSearch } from './search.ts'
import { kindOfUse, textOf } from './tool-use.ts'
import type { ToolUse } from './tool-use.ts'

/** Claude Code's rules for one tool speak for all that do the same: reading covers searching, editing covers writing. */
const ALSO: Readonly<Record<string, readonly string[]>> = { read: ['ls', 'glob', 'grep'], edit: ['write'] }
/** For rules that forbid, the other way too: nobody forbids writing a file and means to have it edited. */
const ALSO_FORBIDDEN: Readonly<Record<string, readonly string[]>> = { ...ALSO, write: ['edit'] }

/**
 * Whether these allow rules together let a whole call through: a command by every part of it, a path by its name and by what is behind it.
 * A link leads into nothing that is not allowed by its own name.
 */
export function allowedBy(rules: readonly Rule[], use: ToolUse, place: Place): boolean {
  const mine = rules.filter((rule) => isAbout(rule, use, ALSO))
  if (mine.some(({ specifier }) => specifier === null)) return true
  const specifiers = mine.flatMap(({ specifier }) => specifier ?? [])
  if (specifiers.length === 0) return false
  switch (kindOfUse(use)) {
    case 'command':
      return commandAllowed(specifiers, textOf(use, 'command'))
    case 'domain':
      return specifiers.some((specifier) => domainAllowed(specifier, textOf(use, 'url')))
    case 'type':
      return specifiers.some((specifier) => namesType(specifier, use))
    case 'path': {
      const paths = pathsBehind(textOf(use, 'path', '.'), workingRoot(place))
      // A search comes upon more than the folder it is told of, so only a rule for all of the tool lets it through.
      return !isSearch(use) && paths.every((path) => specifiers.some((specifier) => pathAllowed(specifier, path, place)))
    }
    case 'none':
      return false
  }
}

/** The first rule that could be about any part of a call; `below` false: what a search comes upon below its folder is left out. */
export function touchedBy(rules: readonly Rule[], use: ToolUse, place: Place, below: boolean): Rule | null {
  return rules.find((rule) => isAbout(rule, use, ALSO_FORBIDDEN) && (rule.specifier === null || touches(rule.specifier, use, place, below))) ?? null
}

function touches(specifier: string, use: ToolUse, place: Place, below: boolean): boolean {
  switch (kindOfUse(use)) {
    case 'command':
      return commandTouched(specifier, textOf(use, 'command'))
    case 'domain':
      return domainTouched(specifier, textOf(use, 'url'))
    case 'type':
      return namesType(specifier, use)
    case 'path': {
      const paths = pathsBehind(textOf(use, 'path', '.'), workingRoot(place))
      return paths.some((path) => pathTouched(specifier, path, place) || (below && isSearch(use) && pathTouchedBelow(specifier, path, place)))
    }
    case 'none':
      return true
  }
}

function isAbout({ tool: name }: Rule, { tool, foreign = false }: ToolUse, also: typeof ALSO): boolean {
  if (foreign) return name === '*' || ((!isKnownTool(name) || name.toLowerCase().startsWith('mcp__')) && toolsNamed(name, [tool]).includes(tool))
  const named = toolsNamed(name, [tool])
  return named.includes(tool) || named.some((each) => Object.hasOwn(also, each) && also[each]?.includes(tool) === true)
}

/** `Agent(a, b)` is about a and b. A delegation whose type is not known yet is judged when it is. */
const namesType = (specifier: string, { agentType }: ToolUse): boolean =>
  agentType !== undefined && specifier.split(',').some((name) => typeKey(name) === typeKey(agentType))
