import type { Diagnostic, Severity } from '../core/diagnostic.ts'
import { nearest } from '../core/nearest.ts'
import { isKnownTool, KNOWN_SPELLINGS, parseToolEntry } from '../core/tool-names.ts'
import { domainOf } from './domain-pattern.ts'
import type { Rule, RuleList, Rules } from './rule.ts'
import { kindNamed } from './specifier-kind.ts'

export type ParsedRules = { readonly rules: Rules; readonly diagnostics: readonly Diagnostic[] }

/** Where lists were written: a file, or the name of a place in code; `line` (1-based) of a list. */
export type RuleOrigin = { readonly path: string; line?(list: RuleList): number }

/**
 * Reads the three lists of one layer (PRM-03). Never throws, and never widens: what cannot be read is one diagnostic, and then an `allow` entry
 * counts for nothing, while a `deny` or `ask` entry counts for every call of the tool it begins with. An entry that names no tool at all is
 * only reported: there is nothing it could have meant.
 */
export function parseRules(lists: Partial<Readonly<Record<RuleList, unknown>>>, origin: RuleOrigin): ParsedRules {
  const diagnostics: Diagnostic[] = []
  const read = (list: RuleList): readonly Rule[] => {
    const report = (severity: Severity, message: string, remedy: string) =>
      void diagnostics.push({ path: origin.path, line: origin.line?.(list) ?? 1, severity, message: `${list} ${message}`, remedy })
    const entries = lists[list] ?? []
    if (!Array.isArray(entries)) report('error', 'is not a list of rules', 'write it as ["Tool", "Tool(specifier)"]')
    return (Array.isArray(entries) ? (entries as readonly unknown[]) : [entries]).flatMap((entry) => readEntry(entry, list, origin.path, report) ?? [])
  }
  return { rules: { allow: read('allow'), ask: read('ask'), deny: read('deny') }, diagnostics }
}

type Report = (severity: Severity, message: string, remedy: string) => void

function readEntry(entry: unknown, list: RuleList, origin: string, report: Report): Rule | null {
  const name = typeof entry === 'string' ? /^[^()]*/.exec(entry)?.[0].trim() : undefined
  if (typeof entry !== 'string' || !name) {
    report('error', `rule ${JSON.stringify(entry) ?? 'undefined'} names no tool`, 'it counts for nothing; write Tool or Tool(specifier)')
    return null
  }
  const written = entry.trim()
  const { specifier } = parseToolEntry(written)
  const fault = faultOf(written, name, specifier, list)
  if (fault !== null) {
    const whole = list === 'allow' ? 'it allows nothing' : `it counts for every call of ${name}`
    report('error', `rule "${written}" ${fault.what}`, `${whole}; ${fault.remedy}`)
    return list === 'allow' ? null : { written, tool: name, specifier: null, origin }
  }
  if (!isKnownTool(name)) report('note', `rule "${written}" names no tool of Cadre`, hint(name))
  return { written, tool: name, specifier, origin }
}

type Fault = { readonly what: string; readonly remedy: string }

function faultOf(written: string, name: string, specifier: string | null, list: RuleList): Fault | null {
  if (written !== name && !/^[^()]+\(.*\)$/s.test(written)) return { what: 'has an open bracket', remedy: 'write Tool or Tool(specifier)' }
  if (/\(\s*\)$/.test(written)) return { what: 'has an empty specifier', remedy: `write ${name} for every call` }
  if (name === '*' && list === 'allow') return { what: 'would allow everything', remedy: 'name the tools, or use the permission mode bypassPermissions' }
  if (specifier === null) return null
  if (specifier.includes('\0')) return { what: 'has a character no path or command can have', remedy: 'take it out' }
  switch (kindNamed(name)) {
    case 'domain':
      return domainOf(specifier) === undefined ? { what: 'is no domain', remedy: `write ${name}(domain:example.com)` } : null
    case 'path':
      return specifier.startsWith('!') ? { what: 'is negated', remedy: 'rules have no exceptions: name what it is about' } : null
    case 'none':
      return { what: `has a specifier, and ${name} takes none`, remedy: `write ${name}` }
    case 'command':
    case 'type':
      return null
  }
}

function hint(name: string): string {
  const near = nearest(name, KNOWN_SPELLINGS)
  return near === undefined ? 'it counts for a tool of exactly that name' : `did you mean ${near}?`
}
