import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGit } from './git.ts'
import { refuseOwnPrograms } from './own-filters.ts'
import { merge } from './rebase.ts'
import { commonDirOf } from './repository.ts'
import { snapshot } from './snapshot.ts'
import { gitDirOfWorktree } from './worktree.ts'

/** A live worktree; the order of `started` says who came later. */
export type Live = { readonly path: string; readonly id: string; readonly title: string; readonly started: number }

/** Two live worktrees change a file in ways that do not fit. `later` is to be told, of `earlier`. */
export type Overlap = { readonly file: string; readonly later: Live; readonly earlier: Live }

export type ForecastOptions = {
  /** Told once for each file and pair (WKT-12). */
  onOverlap(overlap: Overlap): void
  /** Told when a worktree could not be looked at; the next change looks again. */
  onFailure?(live: Live, error: unknown): void
  /** How long a worktree must be quiet. */
  readonly quietMs?: number
  /** As for `openWorktrees`. */
  readonly trustPrograms?: boolean
}

/** Tells early which worktrees of one repository will conflict. No worktree, index or ref is touched; what it writes is beside the repository. */
export type Forecast = {
  /** To be called after each change in a live worktree. */
  touched(live: Live): void
  /** It has ended: nothing is said of it any more. */
  forget(live: Live): void
  /** Resolves when all that was touched has been looked at. */
  settled(): Promise<void>
  close(): Promise<void>
}

const QUIET_MS = 500

export function createForecast({ onOverlap, onFailure, quietMs = QUIET_MS, trustPrograms = false }: ForecastOptions): Forecast {
  const timers = new Map<string, NodeJS.Timeout>()
  const states = new Map<string, { readonly live: Live; readonly commit: string }>()
  const told = new Set<string>()
  /** Those that were touched and have not ended. */
  const known = new Set<string>()
  const stop = new AbortController()
  /** Looks one after the other: they would only wait for each other's processor. */
  let looking: Promise<void> = Promise.resolve()
  let objects: string | null = null

  async function look(live: Live): Promise<void> {
    try {
      const env = objectsBeside(commonDirOf(gitDirOfWorktree(live.path)))
      const git = openGit(live.path)
      if (!trustPrograms) await refuseOwnPrograms(git, stop.signal)
      const commit = await stateOf(live, env)
      if (timers.has(live.id)) return // changed again meanwhile: it is looked at soon
      if (states.get(live.id)?.commit === commit || !known.has(live.id)) return
      states.set(live.id, { live, commit })
      for (const other of states.values()) {
        if (other.live.id === live.id) continue
        const { files } = await merge(git, commit, other.commit, stop.signal, env)
        if (!states.has(other.live.id) || !known.has(live.id)) continue
        const [earlier, later] = live.started < other.live.started ? [live, other.live] : [other.live, live]
        for (const file of files) tell({ file, later, earlier })
      }
    } catch (error) {
      if (!stop.signal.aborted && known.has(live.id)) onFailure?.(live, error)
    }
  }

  /** Its files as they are now, as a commit on top of its HEAD. */
  async function stateOf(live: Live, env: Readonly<Record<string, string>>): Promise<string> {
    const git = openGit(live.path)
    const tree = await snapshot(git, stop.signal, env)
    // One date for all: what is the same is the same commit.
    const who = { NAME: 'Cadre', EMAIL: 'cadre@localhost', DATE: '@0 +0000' }
    const identity = Object.fromEntries(Object.entries(who).flatMap(([field, value]) => [[`GIT_AUTHOR_${field}`, value], [`GIT_COMMITTER_${field}`, value]]))
    return (await git.run(['commit-tree', tree, '-p', 'HEAD', '-m', 'state'], stop.signal, { env: { ...env, ...identity } })).trim()
  }

  function tell(overlap: Overlap): void {
    const key = JSON.stringify([overlap.file, overlap.later.id, overlap.earlier.id])
    if (told.has(key)) return
    told.add(key)
    onOverlap(overlap)
  }

  /** New objects go to a folder of their own; those of the repository are read where they are. */
  function objectsBeside(commonDir: string): Readonly<Record<string, string>> {
    objects ??= mkdtempSync(join(tmpdir(), 'cadre-forecast-'))
    return { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(commonDir, 'objects')) }
  }

  return {
    touched(live) {
      if (stop.signal.aborted) return
      known.add(live.id)
      clearTimeout(timers.get(live.id))
      timers.set(live.id, setTimeout(() => {
        timers.delete(live.id)
        looking = looking.then(() => look(live))
      }, quietMs).unref())
    },
    forget(live) {
      clearTimeout(timers.get(live.id))
      timers.delete(live.id)
      states.delete(live.id)
      known.delete(live.id)
    },
    async settled() {
      while (timers.size > 0) await new Promise((resolve) => setTimeout(resolve, quietMs))
      await looking
    },
    async close() {
      timers.forEach((timer) => clearTimeout(timer))
      timers.clear()
      stop.abort(new Error('the forecast is closed'))
      await looking
      if (objects !== null) rmSync(objects, { recursive: true, force: true })
    },
  }
}
