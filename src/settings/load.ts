import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { isList, isObject } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import { absoluteFolder } from './absolute-folder.ts'
import { defaults } from './defaults.ts'
import { readDocument } from './document.ts'
import type { SettingsDocument } from './document.ts'
import { checkEnvironment } from './environment.ts'
import { checkLayer } from './layer.ts'
import type { Checked, Entry } from './layer.ts'
import { merge } from './merge.ts'
import { restrictProject } from './project.ts'
import type { Settings } from './settings.ts'
import { isTrustedRoot } from './trust.ts'

export type LoadedSettings = {
  readonly settings: Settings
  /** Whether this root is trusted (SCO-07). */
  readonly trusted: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** Every file that counts, highest first, there or not: what to watch for changes. */
  readonly files: readonly string[]
  /** The last good content of each file. */
  readonly documents: ReadonlyMap<string, SettingsDocument>
}

export type SettingsOptions = {
  /** The project root, a real path. */
  readonly root: string
  /** The user folder: `$CADRE_HOME` or `~/.cadre`. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Settings given in code or by flags. */
  readonly code?: unknown
  readonly trustedInCode?: boolean
  readonly managedFile?: string
  /** What the last load came to: a file that is not JSON now keeps the version it had then (SET-02). */
  readonly previous?: LoadedSettings
}

const MANAGED_FILE = '/etc/cadre/settings.json'

/** What a layer is called in diagnostics when it is no file. */
const IN_CODE = 'settings in code'

/** Reads all layers and resolves them (SET-01). Never throws: what cannot be used is a diagnostic, and the layer below holds. */
export function loadSettings(options: SettingsOptions): LoadedSettings {
  const { root, home, env } = options
  const managedFile = options.managedFile ?? MANAGED_FILE
  const userFile = join(home, 'settings.json')
  // In the user's home folder `.cadre` is the user folder itself: that file speaks for the user, not for a project.
  const projectFiles = ['settings.local.json', 'settings.json']
    .map((name) => join(root, '.cadre', name))
    .filter((file) => realPath(file) !== realPath(userFile))
  const files = [managedFile, ...projectFiles, userFile]
  const documents = new Map<string, SettingsDocument>()
  const diagnostics: Diagnostic[] = []

  function open(file: string): Checked & { readonly document: SettingsDocument | null } {
    const read = readDocument(file)
    if (read && 'problem' in read) {
      const kept = options.previous?.documents.get(file)
      diagnostics.push({ ...read.problem, remedy: kept ? 'mend it; its last good version holds' : 'mend it; the file is ignored' })
      if (!kept) return { entries: [], diagnostics: [], document: null }
      documents.set(file, kept)
      // Its lines are those of the old text, and its diagnostics were given.
    return { entries: checkLayer({ name: file, ...kept }).entries, diagnostics: [], document: kept }
    }
    if (!read) return { entries: [], diagnostics: [], document: null }
    documents.set(file, read.document)
    return { ...checkLayer({ name: file, ...read.document }), document: read.document }
  }

  const report = ({ entries, diagnostics: found }: Checked): readonly Entry[] => {
    diagnostics.push(...found)
    return entries
  }
  const userHome = env['HOME'] ?? homedir()
  const base = defaults(home)
  const absolute = (entries: readonly Entry[], folder: string) => entries.map((entry) => withAbsoluteFolders(entry, folder, userHome))

  const managed = absolute(report(open(managedFile)), dirname(managedFile))
  const user = absolute(report(open(userFile)), home)
  const trustedRoots = [...managed, ...user].flatMap(({ path, value }) =>
    path[0] === 'trustedRoots' && isList(value) ? value.filter((entry) => typeof entry === 'string') : [])
  const trusted = options.trustedInCode === true || isTrustedRoot(root, trustedRoots)
  const below = merge(base, [user])
  const project = projectFiles.map((file) => {
    const { document, ...checked } = open(file)
    const layer = { name: file, value: {}, lineOf: document?.lineOf ?? (() => 1) }
    const kept = report(restrictProject(report(checked), { layer, root, trusted, below }))
    return absolute(kept, root)
  })
  const environment = absolute(report(checkEnvironment(env)), root)
  const code = absolute(report(checkCode(options.code)), root).filter(({ path }) => path[0] !== 'trustedRoots')

  const settings = { ...merge(base, [user, ...project.toReversed(), environment, code, managed]), trustedRoots }
  return { settings, trusted, diagnostics, files, documents }
}

function checkCode(code: unknown): Checked {
  const report = (message: string, remedy: string): Diagnostic => ({ path: IN_CODE, line: 1, severity: 'warning', message, remedy })
  if (code === undefined || code === null) return { entries: [], diagnostics: [] }
  if (!isObject(code)) return { entries: [], diagnostics: [report('settings must be a map', 'ignored')] }
  const checked = checkLayer({ name: IN_CODE, value: code, lineOf: () => 1 })
  if (!('trustedRoots' in code)) return checked
  const misplaced = report('"trustedRoots" counts only in user and managed settings', 'use the option "trusted"')
  return { ...checked, diagnostics: [...checked.diagnostics, misplaced] }
}

/** Folders in settings are meant from where they are written. */
function withAbsoluteFolders({ path, value }: Entry, folder: string, userHome: string): Entry {
  const full = (written: Json): Json => (typeof written === 'string' ? absoluteFolder(written, folder, userHome) : written)
  if (path[0] === 'journal' && path[1] === 'path') return { path, value: full(value) }
  const folders = path[0] === 'plugins' || path[0] === 'trustedRoots'
  return folders && isList(value) ? { path, value: value.map(full) } : { path, value }
}

/** The same text for the same file, also for one that does not exist yet. */
function realPath(file: string): string {
  try {
    return realpathSync.native(file)
  } catch {
    return resolve(file)
  }
}
