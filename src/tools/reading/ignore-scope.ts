import { dirname, join } from 'node:path'

import { readGitConfig } from './git-config.ts'
import type { GitConfig } from './git-config.ts'
import { gitFolderAbove, gitFolderAt } from './git-folder.ts'
import type { GitFolder } from './git-folder.ts'
import { readTrackedPaths } from './git-index.ts'
import type { TrackedPaths } from './git-index.ts'
import { parseGitignore } from './gitignore.ts'
import type { Gitignore } from './gitignore.ts'
import { readBytes, readIfRegular, withRegularFile } from './regular-file.ts'

const IGNORE_FILE = '.gitignore'

/** One set of rules, the folder they start from, and what asks next when they say nothing. */
type Layer = { readonly rules: Gitignore; readonly base: string; readonly above: Layer | null }

/** Reports each .gitignore file that was read, with its bytes. */
export type OnIgnoreFile = (file: string, bytes: Buffer) => void

/** A repository while its rules are in use: configuration and index are read when first needed. */
class Repository {
  readonly folder: GitFolder
  readonly config: GitConfig
  #tracked: TrackedPaths | undefined

  constructor(folder: GitFolder) {
    this.folder = folder
    this.config = readGitConfig(folder.commonDir)
  }

  get tracked(): TrackedPaths {
    return (this.#tracked ??= readTrackedPaths(this.folder.gitDir, this.config.hashBytes))
  }

  relative(path: string): string {
    return relativeTo(this.folder.top, path)
  }
}

/**
 * What git ignores in one folder: its .gitignore, those above it up to the top of the repository, `.git/info/exclude` and the user's
 * `core.excludesFile`, the nearest first. Tracked files are never ignored. Outside a repository .gitignore files count all the same; a
 * repository inside another starts afresh, with its own rules and index. Immutable; `enter` gives the scope of a folder below.
 */
export class IgnoreScope {
  readonly #layer: Layer | null
  readonly #repository: Repository | null
  readonly #onFile: OnIgnoreFile

  private constructor(layer: Layer | null, repository: Repository | null, onFile: OnIgnoreFile) {
    this.#layer = layer
    this.#repository = repository
    this.#onFile = onFile
  }

  /** The scope of the folder where a walk starts. The start itself counts as asked for, even if something above ignores it. */
  static at(folder: string, onFile: OnIgnoreFile): IgnoreScope {
    const git = gitFolderAbove(folder)
    const top = git?.top ?? folder
    const chain: string[] = []
    for (let at = folder; at !== top; at = dirname(at)) chain.unshift(at)
    let scope = IgnoreScope.#ofRepository(git, onFile)
    for (const each of [top, ...chain]) scope = scope.#withFileOf(each)
    return scope
  }

  /** The scope of a folder below, whose entries are known. */
  enter(folder: string, names: ReadonlySet<string>): IgnoreScope {
    const inner = names.has('.git') ? gitFolderAt(folder) : null
    const scope = inner === null ? this : IgnoreScope.#ofRepository(inner, this.#onFile)
    return names.has(IGNORE_FILE) ? scope.#withFileOf(folder) : scope
  }

  /** Whether git ignores this entry, looking at nothing but the entry: what lies in an ignored folder is ignored with it. */
  ignores(path: string, isFolder: boolean): boolean {
    for (let layer = this.#layer; layer !== null; layer = layer.above) {
      const verdict = layer.rules.verdict(relativeTo(layer.base, path), isFolder)
      if (verdict !== undefined) return verdict && (isFolder || !this.#tracks(path))
    }
    return false
  }

  /** The tracked files (full paths) in a folder that is ignored. */
  trackedBelow(folder: string): readonly string[] {
    const repository = this.#repository
    return repository === null ? [] : repository.tracked.below(repository.relative(folder)).map((path) => join(repository.folder.top, path))
  }

  #tracks(path: string): boolean {
    return this.#repository !== null && this.#repository.tracked.has(this.#repository.relative(path))
  }

  static #ofRepository(folder: GitFolder | null, onFile: OnIgnoreFile): IgnoreScope {
    if (folder === null) return new IgnoreScope(null, null, onFile)
    const repository = new Repository(folder)
    const { config, folder: { commonDir, top } } = repository
    let layer: Layer | null = null
    for (const file of [config.excludesFile, join(commonDir, 'info/exclude')]) {
      const bytes = readIfRegular(file)
      const rules = bytes && parseGitignore(bytes, config.ignoreCase)
      if (rules !== null) layer = { rules, base: top, above: layer }
    }
    return new IgnoreScope(layer, repository, onFile)
  }

  /** A .gitignore that is a link or a device counts for nothing, as for git. */
  #withFileOf(folder: string): IgnoreScope {
    const file = join(folder, IGNORE_FILE)
    const bytes = readUnlinked(file)
    if (bytes === null) return this
    this.#onFile(file, bytes)
    const rules = parseGitignore(bytes, this.#repository?.config.ignoreCase ?? false)
    return rules === null ? this : new IgnoreScope({ rules, base: folder, above: this.#layer }, this.#repository, this.#onFile)
  }
}

const relativeTo = (folder: string, path: string): string => path.slice(folder.endsWith('/') ? folder.length : folder.length + 1)

function readUnlinked(file: string): Buffer | null {
  try {
    return withRegularFile({ real: file, path: file }, readBytes)
  } catch {
    return null // most folders have none; one that cannot be read ignores nothing, as for git
  }
}
