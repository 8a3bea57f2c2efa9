import { relative, sep } from 'node:path'
import { watch } from 'chokidar'

/** Editors save in bursts (write, rename, touch): wait until they are quiet, but not for ever. Milliseconds. */
const BURST = { quietMs: 50, longestMs: 300 }

/** What to watch: agents folders with all below them, and in the plugins folder only each plugin's `agents`. None need exist. */
export type WatchedFolders = { readonly agents: readonly string[]; readonly plugins: string }

export type FolderWatch = {
  /** Resolves when changes from then on are seen. */
  readonly ready: Promise<void>
  /** Takes the folders there are now, such as those of a plugin added since. */
  follow(folders: WatchedFolders): void
  close(): Promise<void>
}

export type WatchListener = { onChange(paths: ReadonlySet<string>): void; onError(error: unknown): void }

/**
 * Watches agents folders (SCO-09), through a folder above where one does not exist yet, and never the tree around them. `onChange` gets
 * the paths of one burst of changes.
 */
export function watchFolders(folders: WatchedFolders, on: WatchListener): FolderWatch {
  let current = folders
  const burst = createBurst(on.onChange)
  const watcher = watch([...folders.agents, folders.plugins], {
    ignoreInitial: true,
    ignored: (path, stats) => isForeign(path, current) || Boolean(stats?.isFile() && !path.endsWith('.md')),
  })
  const ready = new Promise<void>((resolve) => {
    watcher.once('ready', resolve)
  })
  watcher.on('all', (_event, path) => burst.add(path))
  watcher.on('error', on.onError)
  return {
    ready,
    follow(next) {
      const before = new Set(current.agents)
      current = next
      const added = next.agents.filter((path) => !before.has(path))
      if (added.length > 0) watcher.add(added)
    },
    async close() {
      burst.stop()
      await watcher.close()
    },
  }
}

/** Inside the plugins folder: anything but a plugin's own folder, its `agents` and what is in there. */
function isForeign(path: string, { agents, plugins }: WatchedFolders): boolean {
  const [plugin, inner] = path.startsWith(plugins + sep) ? relative(plugins, path).split(sep) : []
  if (plugin === undefined || inner === undefined || inner === 'agents') return false
  return !agents.some((folder) => path === folder || path.startsWith(folder + sep))
}

function createBurst(done: (paths: ReadonlySet<string>) => void): { add(path: string): void; stop(): void } {
  let paths = new Set<string>()
  let quiet: NodeJS.Timeout | undefined
  let longest: NodeJS.Timeout | undefined
  const stop = () => {
    clearTimeout(quiet)
    clearTimeout(longest)
    longest = undefined
  }
  const end = () => {
    stop()
    const burst = paths
    paths = new Set()
    done(burst)
  }
  return {
    add(path) {
      paths.add(path)
      clearTimeout(quiet)
      quiet = setTimeout(end, BURST.quietMs)
      longest ??= setTimeout(end, BURST.longestMs)
    },
    stop,
  }
}
