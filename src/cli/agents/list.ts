import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import type { AgentType } from '../../core/agent-type.ts'
import type { TypeListing } from '../../definitions/registry.ts'
import { userFolder } from '../../settings/user-folder.ts'
import type { CliContext } from '../context.ts'
import { counted } from '../../sweep/figures.ts'
import { createNoticed } from '../noticed.ts'
import { shortPath } from '../short-path.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import type { Cell } from '../table.ts'
import { renderTable } from '../table.ts'
import { writeJson } from '../write-all.ts'

/** Variables that change what is listed, and what holds without them. */
const SWITCHES = { CADRE_HOME: '~/.cadre', CADRE_CLAUDE_AGENTS: 'on', CADRE_SUBAGENT_MODEL: 'the parent\'s model' } as const

/** `cadre agents list`: types, shadowed and skipped files, scope order, environment switches (CMD-07, TYP-21). */
export async function list(context: CliContext, { json }: { readonly json: boolean }): Promise<void> {
  const noticed = createNoticed(context)
  const orchestrator = await context.open({ watch: false, onDiagnostic: noticed.onDiagnostic })
  const listing = orchestrator.listTypes()
  if (json) {
    writeJson(context.stdout, asJson(listing, context))
    return
  }
  const style = styleOf(context.stdout, context.env)
  const place = { cwd: context.cwd, ...userFolder(context.env) }
  const path = (type: AgentType) => (type.path === null ? '--agents' : shortPath(type.path, place))
  const sections = [
    types(listing, path, style),
    shadowed(listing, path, style),
    skipped(listing, context, style),
    scopes(listing, context, style),
    switches(context, style),
  ]
  context.stdout.write(sections.filter((section) => section !== '').join('\n'))
  noticed.tell()
}

const types = (listing: TypeListing, path: (type: AgentType) => string, style: Style): string =>
  renderTable(
    [{ title: 'NAME', cut: 'end' }, { title: 'MODE' }, { title: 'MODEL', cut: 'end' }, { title: 'SCOPE' }, { title: 'FILE', cut: 'start' }],
    listing.types.toSorted((a, b) => (a.type.name < b.type.name ? -1 : 1)).map(({ type, startable }) => [
      { text: type.name, paint: startable ? style.paint.bold : style.paint.dim },
      type.readOnly ? 'read-only' : type.mode,
      { text: type.model ?? 'inherit', paint: type.model === null ? style.paint.dim : (text: string) => text },
      type.scope,
      { text: path(type), paint: style.paint.dim },
    ]),
    style,
  )

function shadowed(listing: TypeListing, path: (type: AgentType) => string, style: Style): string {
  if (listing.shadowed.length === 0) return ''
  const rows = listing.shadowed.map(({ type, by }) => [type.name, path(type), path(by)])
  return renderTable([{ title: 'SHADOWED', cut: 'end' }, { title: 'FILE', cut: 'start' }, { title: 'BY', cut: 'start' }], rows, style)
}

/** Cut at their ends, but for the path: the whole line is on stderr and in lint. */
function skipped(listing: TypeListing, { cwd, env }: CliContext, style: Style): string {
  const rows = listing.skipped.map(({ path, reason }) => [
    `${shortPath(path, { cwd, ...userFolder(env) })}:${reason.line}`,
    { text: reason.message, paint: reason.severity === 'error' ? style.paint.red : style.paint.yellow },
  ])
  return renderTable([{ title: 'SKIPPED', cut: 'start' }, { title: 'WHY', cut: 'end' }], rows, style)
}

function scopes(listing: TypeListing, { cwd, env }: CliContext, style: Style): string {
  const typesIn = (folder: string) => listing.types.filter(({ type }) => type.path !== null && isBelow(type.path, folder)).length
  const rows: (readonly Cell[])[] = listing.folders.map(({ scope, path, plugin }) => {
    const there = existsSync(path)
    return [
      plugin === undefined ? scope : `${scope} ${plugin}`,
      { text: there ? counted(typesIn(path), 'type') : '–', paint: style.paint.dim },
      { text: shortPath(path, { cwd, ...userFolder(env) }), paint: there ? (text: string) => text : style.paint.dim },
    ]
  })
  const inCode = listing.types.filter(({ type }) => type.scope === 'code').length
  const after = rows.findIndex(([scope]) => scope !== 'managed')
  const code = ['code', { text: inCode === 0 ? '–' : counted(inCode, 'type'), paint: style.paint.dim }, '--agents']
  rows.splice(after === -1 ? rows.length : after, 0, code)
  return renderTable([{ title: 'SCOPE, HIGHEST FIRST' }, { title: 'USED' }, { title: 'FOLDER', cut: 'start' }], rows, style)
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

const switches = ({ env }: CliContext, style: Style): string =>
  renderTable([{ title: 'ENVIRONMENT' }, { title: 'VALUE', cut: 'end' }], Object.entries(SWITCHES).map(([name, otherwise]) => [
    name,
    env[name] ? env[name] : { text: `not set: ${otherwise}`, paint: style.paint.dim },
  ]), style)

const asJson = (listing: TypeListing, { env }: CliContext) => ({
  types: listing.types.map(({ type, alsoNamed, startable }) => ({
    name: type.name,
    alsoNamed,
    description: type.description,
    scope: type.scope,
    path: type.path,
    hash: type.hash,
    model: type.model,
    mode: type.mode,
    readOnly: type.readOnly,
    program: type.program !== null,
    trusted: type.trusted,
    startable,
  })),
  shadowed: listing.shadowed.map(({ type, by }) => ({ name: type.name, scope: type.scope, path: type.path, by: by.path })),
  skipped: listing.skipped.map(({ path, reason }) => ({ path, reason })),
  scopes: listing.folders,
  environment: Object.fromEntries(Object.keys(SWITCHES).map((name) => [name, env[name] ?? null])),
})
