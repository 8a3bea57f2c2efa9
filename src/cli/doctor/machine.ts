import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { CadreError, messageOf } from '../../core/errors.ts'
import { createPrograms } from '../../programs/programs.ts'
import { threadCap } from '../../threads/cap.ts'
import { broken, ok, warning } from './check.ts'
import type { Check } from './check.ts'

/** ms. A tool that does not answer by then counts as broken. */
const PATIENCE = { command: 5_000, program: 20_000 }

/** The Node release Cadre is developed on; older ones down to 24 work. */
const BEST_NODE = 26

/** What does not depend on the project: Node, git, the shell sandbox, isolates and threads. `path` is the search path for commands. */
export async function machineChecks(path: string | undefined, maxRunning: number | null): Promise<readonly Check[]> {
  const [gitCheck, sandboxCheck, isolateCheck] = await Promise.all([git(path), sandbox(path), isolates()])
  return [node(), gitCheck, sandboxCheck, isolateCheck, threads(maxRunning)]
}

function node(): Check {
  const version = process.versions.node
  if (Number(version.split('.')[0]) >= BEST_NODE) return ok('Node', `${version}, ${availableParallelism()} cores`)
  const found = `${version} works, but threads start slower and programs are confined less than on Node ${BEST_NODE}`
  return warning('Node', found, `Install Node ${BEST_NODE} from https://nodejs.org.`)
}

async function git(path: string | undefined): Promise<Check> {
  const run = await command('git', ['--version'], path)
  if (run.ok) return ok('git', run.output.replace(/^git version /, ''))
  return warning('git', `git does not run: ${run.output}`, 'Install git: without it, authors and ages of lines are unknown.')
}

type Sandbox = { readonly name: string; readonly file: string; readonly argv: readonly string[]; readonly install: string }

/** By platform, with a command line that only works when the sandbox does. */
const SANDBOXES: Readonly<Record<string, Sandbox>> = {
  linux: {
    name: 'bubblewrap',
    file: 'bwrap',
    argv: ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', 'true'],
    install: 'Install it (Debian, Ubuntu: apt install bubblewrap) and allow user namespaces',
  },
  darwin: {
    name: 'Seatbelt',
    file: 'sandbox-exec',
    argv: ['-p', '(version 1)(allow default)', 'true'],
    install: 'Check that /usr/bin/sandbox-exec is there',
  },
}

async function sandbox(path: string | undefined): Promise<Check> {
  const known = SANDBOXES[process.platform]
  if (!known) return warning('sandbox', `there is none for ${process.platform}`, 'Use Linux or macOS; no agent of this version needs it.')
  const run = await command(known.file, known.argv, path)
  if (run.ok) return ok('sandbox', `${known.name} works`)
  return warning('sandbox', `${known.name} does not work: ${run.output}`, `${known.install}; no agent of this version needs it.`)
}

/** Runs a real program: isolated-vm loads, its process starts locked down, and a value comes back. */
async function isolates(): Promise<Check> {
  const programs = createPrograms({ max: 1 })
  try {
    const start = { code: 'return 6 * 7', line: 1, file: 'doctor', prompt: '', tools: [], time: 0, seed: 1 }
    const { program, step } = await programs.begin(start, AbortSignal.timeout(PATIENCE.program))
    await program.close()
    if (step.kind === 'done' && step.value === 42) return ok('programs', 'a program ran in its isolate')
    return broken('programs', `a program that returns 42 came to: ${JSON.stringify(step)}`, 'Run npm rebuild isolated-vm.')
  } catch (error) {
    const saysRemedy = error instanceof CadreError && error.code === 'ISOLATE_UNAVAILABLE'
    return broken('programs', messageOf(error), saysRemedy ? 'Types with "model: script" need it.' : 'Run npm rebuild isolated-vm.')
  } finally {
    await programs.close()
  }
}

/** More agents than threads is no fault: most agents wait for their model most of the time. */
function threads(maxRunning: number | null): Check {
  const cap = `up to ${threadCap()} live at once`
  if (maxRunning === null || maxRunning <= threadCap()) return ok('threads', cap)
  const shared = 'one that waits for its model needs none, one whose calls hang or that waits for sub-agents keeps its own'
  return ok('threads', `${cap}, for up to ${maxRunning} agents (limits.maxRunning): ${shared}`)
}

type Ran = { readonly ok: boolean; readonly output: string }

/** Runs a command with nothing of the environment but the search path; `output` is its first line, or why it failed. */
async function command(file: string, argv: readonly string[], path: string | undefined): Promise<Ran> {
  try {
    const env = path === undefined ? {} : { PATH: path }
    const { stdout } = await promisify(execFile)(file, [...argv], { timeout: PATIENCE.command, env })
    return { ok: true, output: stdout.split('\n')[0]?.trim() ?? '' }
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return { ok: false, output: missing ? 'it is not installed' : (messageOf(error).split('\n').filter(Boolean).at(-1) ?? '') }
  }
}
