/** DESIGN.md's "The rooms, and who may import whom", as rules over a map from path to source text. */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'

import { outline, type Import } from './imports.ts'

export type Files = ReadonlyMap<string, string>

/** Package → the folders (ending in `/`) and files that may import it. Tests and benchmarks may import all of them. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  'piscina': ['src/threads/'],
  'comlink': ['src/threads/', 'sandbox/worker.ts'],
  'tinypool': ['src/programs/'],
  'isolated-vm': ['sandbox/isolate/'],
  'chokidar': ['src/definitions/watch.ts'],
  'gray-matter': ['src/definitions/parse.ts'],
  'yaml': ['src/definitions/parse.ts'],
  'simple-git': ['worktrees/git.ts'],
  // At the doors, where something from outside is checked once. Never in a worker: it costs 27 ms in each.
  'zod': ['src/tools/', 'src/definitions/', 'src/settings/', 'src/cli/', 'src/models/', 'src/sweep/'],
  '@ai-sdk/*': ['src/models/'],
  'node:sqlite': ['src/journal/'],
  'commander': ['src/cli/'],
  'csv-parse': ['src/sweep/'],
  'picomatch': ['src/tools/reading/', 'src/permissions/specifier.ts', 'src/permissions/path-pattern.ts'],
  'unbash': ['src/permissions/shell-reading.ts'],
  'diff': ['src/tools/writing/'],
  'ipaddr.js': ['src/tools/web-fetch/'],
  'html-encoding-sniffer': ['src/tools/web-fetch/'],
  '@opentelemetry/*': ['src/telemetry/'],
  // Never in the host: a page can keep it busy for hours.
  'turndown': ['sandbox/markdown.ts', 'sandbox/turndown-plugin-gfm.d.ts'],
  '@joplin/turndown-plugin-gfm': ['sandbox/'],
  'vitest': ['vitest.config.ts'],
  'rolldown': ['scripts/bundle.ts'],
  'fast-check': [],
  'oxc-parser': [],
}

/** Rooms of one level never import each other. */
const ROOMS = ['host', 'models', 'tools', 'definitions', 'permissions', 'hooks', 'schedule', 'threads', 'journal', 'programs', 'settings', 'prompts', 'verify', 'shell', 'telemetry']

/** The only places that know several rooms. */
const CORRIDOR = [
  'supervisor.ts', 'delegate.ts', 'toolkit.ts', 'calls.ts', 'approval.ts', 'program-run.ts', 'seen-files.ts', 'agent-shell.ts', 'isolation.ts', 'live-permissions.ts', 'ready.ts', 'admission.ts', 'run.ts', 'ending.ts', 'services.ts', 'companions.ts', 'delivery.ts', 'offer.ts', 'resume.ts', 'verification.ts', 'agent-as-tool.ts', 'root-run.ts', 'sweep-run.ts', 'sessions.ts', 'live-models.ts', 'choose-model.ts', 'explain.ts', 'todo-file.ts', 'todo-text.ts', 'prompt.ts', 'api.ts',
  'teller.ts', 'version.ts', 'sweep',
]

/** The read tools' functions: they run in the worker too. */
const READING = 'src/tools/reading/'
/** A pure library, which its room imports: what it builds runs in processes. */
const POLICY = 'sandbox/shell/'
const AGENT_SHELL = 'src/agent-shell.ts'
const GUEST = 'sandbox/isolate/guest/'
const NEVER_SHIPPED = /^(test|bench|scripts)\/|^[^/]+\.config\.ts$/
const DRAWERS = /(^|\/)(utils?|helpers?|common|types)(\/|\.[cm]?[jt]s$)/

interface Place { readonly room: string; readonly level: number }

/** Where a file stands in the picture; a higher level may import a lower one. */
function placeOf(file: string): Place | undefined {
  const [top, second = ''] = file.split('/')
  if (top === 'worktrees') return { room: 'worktrees', level: 2 }
  if (top === 'sandbox') return { room: 'sandbox', level: 2 }
  if (top !== 'src') return undefined
  if (second === 'core') return { room: 'core', level: 1 }
  if (ROOMS.includes(second)) return { room: second, level: 2 }
  if (CORRIDOR.includes(second)) return { room: 'corridor', level: 3 }
  if (second === 'orchestrator.ts') return { room: 'orchestrator', level: 4 }
  if (second === 'index.ts') return { room: 'index', level: 5 }
  if (second === 'cli') return { room: 'cli', level: 6 }
  return undefined
}

/** Every breach of the picture, as `file → import: why`. */
export function violations(files: Files): string[] {
  const found: string[] = []
  const graph = new Map<string, string[]>()

  for (const [file, source] of files) {
    const { imports, defaultExport, errors } = outline(file, source)
    const add = (what: string, why: string) => void found.push(`${file} → ${what}: ${why}`)

    for (const error of errors) add('(syntax)', error)
    if (DRAWERS.test(file)) add('(name)', 'name a file after its one main export, not after a drawer')
    if (defaultExport && !file.endsWith('.config.ts')) add('export default', 'use a named export')
    if (!NEVER_SHIPPED.test(file) && placeOf(file) === undefined) add('(place)', 'it stands in no room of the picture')

    graph.set(file, [])
    for (const entry of imports) {
      const { specifier } = entry
      if (specifier === undefined) {
        if (file.startsWith('src/core/') || file.startsWith('sandbox/')) add('import(…)', 'a computed path cannot be checked')
      } else if (isPath(specifier)) {
        const target = posix.normalize(posix.join(posix.dirname(file), specifier))
        graph.get(file)?.push(target)
        for (const why of againstPath(file, specifier, target, entry, files)) add(specifier, why)
      } else {
        for (const why of againstPackage(file, specifier)) add(specifier, why)
      }
    }
  }
  return [...found, ...cycles(graph)]
}

const isPath = (specifier: string) => /^(\.|\/|file:|[a-zA-Z]:)/.test(specifier) && !isBuiltin(specifier)

function againstPath(file: string, specifier: string, target: string, { typeOnly }: Import, files: Files): string[] {
  if (!specifier.startsWith('.') || target.startsWith('..')) return ['it leaves the repository']
  if (!files.has(target) && target !== 'package.json') return ['there is no such source file (an import names its .ts file)']
  if (NEVER_SHIPPED.test(file)) return []
  if (NEVER_SHIPPED.test(target)) return ['shipped code does not import what is never shipped']

  if (file.startsWith(GUEST)) {
    return target.startsWith(GUEST) && typeOnly ? [] : ['the guest has no modules: only types of its own folder']
  }
  if (file.startsWith(READING)) {
    const fits = target.startsWith(READING) || target.startsWith('src/core/')
    return fits ? [] : ['the read tools run in workers: core and their own folder only']
  }

  const from = placeOf(file)
  const to = placeOf(target)
  if (from === undefined || to === undefined || from.room === to.room) return []
  if (from.room === 'core') return ['core imports nothing but core']
  if (from.room === 'worktrees') {
    return to.room === 'core' && typeOnly ? [] : ['worktrees is a leaf: it imports nothing but types of core']
  }
  if (from.room === 'sandbox') {
    return to.room === 'core' || target.startsWith(READING) ? [] : ['sandbox imports core and the read tools only']
  }
  if ((from.room === 'shell' || file === AGENT_SHELL) && target.startsWith(POLICY)) return []
  if (to.room === 'sandbox') return ['src starts sandbox by URL, never by import; shared types live in core']
  if (from.level > to.level) return []
  return [from.level === to.level ? `never sideways (${from.room} to ${to.room})` : `only down (${from.room} to ${to.room})`]
}

function againstPackage(file: string, specifier: string): string[] {
  if (file.startsWith('src/core/')) return ['core is pure: no node:, no packages']
  if (file.startsWith(GUEST)) return ['the guest has no Node and no packages']

  const name = packageOf(specifier)
  const owners = OWNERS[name] ?? OWNERS[name.replace(/\/.*/, '/*')]
  if (owners === undefined) {
    if (!isBuiltin(specifier)) return [`the package ${name} has no owner`]
    return specifier.startsWith('node:') ? [] : [`write it as node:${specifier}`]
  }
  if (/^(test|bench)\//.test(file) || owners.some(owner => (owner.endsWith('/') ? file.startsWith(owner) : file === owner))) {
    return name === 'zod' && file.startsWith(READING) ? ['the read tools run in workers, which zod would slow down'] : []
  }
  return [`the package ${name} belongs to ${owners.join(', ') || 'tests'}`]
}

const packageOf = (specifier: string) => specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')

/** One line per file that an import leads back to; type imports count, since they tie files together just as well. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const path: string[] = []

  const visit = (file: string) => {
    path.push(file)
    for (const target of graph.get(file) ?? []) {
      const start = path.indexOf(target)
      if (start >= 0) found.push(`${file} → ${target}: closes the cycle ${[...path.slice(start), target].join(' → ')}`)
      else if (!done.has(target)) visit(target)
    }
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) if (!done.has(file)) visit(file)
  return found
}
