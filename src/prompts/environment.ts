import { relative } from 'node:path'
import { performance } from 'node:perf_hooks'

/** What git says of a folder. `branch`: null when HEAD is on none; `lines` are the first of its short status, `XY <path>`. */
export type GitState = {
  readonly branch: string | null
  /** Null, with no `lines`: nobody knows (it took too long). */
  readonly status: null | { readonly changed: number; readonly untracked: number; readonly lines: readonly string[] }
}

export type Environment = {
  /** PRO-01: where an agent works, on what, when, and how git stands. Asks git at most once in 2 s, however many agents start; not for a new worktree. */
  whole(worktree?: { readonly path: string; readonly branch: string }): Promise<string>
  /** The same in one line of less than 200 bytes, without git's status: for the items of a sweep. Equal as long as day and branch are. */
  short(): string
}

/** git's answer serves this long, in ms; longer where it took long: at most a tenth of a core is spent on it. */
const FRESH_MS = 2_000
const FRESH_TIMES_COST = 10

/** Files of the status that are named, and characters of each line. */
const STATUS = { lines: 10, characters: 120 }

/** Bytes of what the short form names: with the rest of it they stay below 200. */
const SHORT = { folder: 100, branch: 40 }

/** The environment of agents that work in `root`: their relative paths start there. `git`: null outside of a repository. */
export function openEnvironment(options: {
  readonly root: string
  /** Where the user stands: named when it is elsewhere. */
  readonly cwd: string
  readonly platform: string
  readonly git: null | {
    /** Resolves also when git fails. */
    state(): Promise<GitState>
    /** At once, without a process. */
    branch(): string | null
  }
  /** Wall clock, and a monotonic one, in ms; replaced in tests. */
  readonly date?: () => Date
  readonly now?: () => number
}): Environment {
  const { root, cwd, platform, git } = options
  const now = options.now ?? (() => performance.now())
  const today = () => dayOf((options.date ?? (() => new Date()))())
  let asked: Promise<GitState> | null = null
  let freshUntil = 0

  function state(): Promise<GitState> | null {
    if (git === null) return null
    const began = now()
    if (asked && began < freshUntil) return asked
    freshUntil = Infinity // those who come meanwhile wait for this answer
    asked = git.state().finally(() => {
      freshUntil = began + Math.max(FRESH_MS, FRESH_TIMES_COST * (now() - began))
    })
    return asked
  }

  return {
    async whole(worktree) {
      const found = worktree ? { branch: worktree.branch, status: CLEAN } : await state()
      const elsewhere = cwd === root ? [] : [`The user is in: ${oneLine(relative(root, cwd))}`]
      return [`Folder: ${oneLine(worktree?.path ?? root)}`, ...elsewhere, `Platform: ${platform}`, `Date: ${today()}`, ...(found ? gitLines(found) : [])].join('\n')
    },
    short() {
      const branch = git?.branch() ?? null
      const onBranch = branch === null ? '' : `, branch ${lastBytes(oneLine(branch), SHORT.branch)}`
      return `Folder: ${lastBytes(oneLine(root), SHORT.folder)}, ${platform}, ${today()}${onBranch}`
    },
  }
}

/** The first user message of an agent: where it is, then what it is asked (PRO-01). A program gets its bare prompt: it may parse it. */
export const firstMessage = ({ environment, prompt }: { readonly environment: string; readonly prompt: string }): string =>
  environment === '' ? prompt : `${environment}\n\n${prompt}`

/** What an agent was asked, out of the first message that `firstMessage` made of it and an environment: that has no blank line. */
export const askedIn = (message: string): string => message.slice(message.indexOf('\n\n') + 2)

/** A worktree is new when its agent is told of it. */
const CLEAN = { changed: 0, untracked: 0, lines: [] } as const

function gitLines({ branch, status }: GitState): readonly string[] {
  const on = branch === null ? 'Git: on no branch' : `Git: branch ${oneLine(branch)}`
  if (status === null) return [on]
  const { changed, untracked, lines } = status
  if (changed + untracked === 0) return [`${on}, clean`]
  const shown = lines.slice(0, STATUS.lines).map((line) => oneLine(line).slice(0, STATUS.characters).toWellFormed())
  const more = changed + untracked - shown.length
  return [`${on}, ${changed} changed, ${untracked} untracked`, ...shown, ...(more > 0 ? [`(${more} more)`] : [])]
}

/** Local, as the user's calendar says. */
const dayOf = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-')

const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?')

/** The end of a path in at most so many bytes, with `…` for what is left out. */
function lastBytes(path: string, bytes: number): string {
  const whole = Buffer.from(path)
  if (whole.length <= bytes) return path
  const ellipsis = '…'
  // The cut may leave half a character at the beginning.
  return ellipsis + whole.toString('utf8', whole.length - (bytes - Buffer.byteLength(ellipsis))).replace(/^\uFFFD+/, '')
}
