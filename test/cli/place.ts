import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { BUILT } from '../built.ts'

/** The real command as it is published, which `test/bundle.ts` has just built. */
export const MAIN = join(BUILT, 'src/cli/main.js')

/** The Node that runs it: the one of the tests, or another one that is to be tried. */
const NODE = process.env['CADRE_TEST_NODE'] ?? process.execPath

export type Run = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stdout: string; readonly stderr: string }

/** `stdin` is what the command reads there; `during` sees the process while it runs. */
type RunOptions = { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly stdin?: string; readonly during?: (child: ChildProcess) => void }

/** Nobody listens there: no local model server of the machine can show up in a test. */
const NO_SERVER = 'http://127.0.0.1:9'

/**
 * A project, a user folder and a user's home of a test's own, gone when the test has finished. Files are written by their path from the
 * folder above all three: `project/…`, `cadre/…` (CADRE_HOME), `user/…`.
 */
export function cliPlace(files: Readonly<Record<string, string>> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-cli-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'project')
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'], HOME: join(folder, 'user'), CADRE_HOME: join(folder, 'cadre'), OLLAMA_HOST: NO_SERVER,
  }
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  mkdirSync(root)
  mkdirSync(join(folder, 'user'))
  for (const [path, content] of Object.entries(files)) write(path, content)

  async function run(file: string, argv: readonly string[], options: RunOptions = {}): Promise<Run> {
    const child = spawn(file, argv, { cwd: options.cwd ?? root, env: { ...env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.end(options.stdin ?? '')
    options.during?.(child)
    const [[code, signal], stdout, stderr] = await Promise.all([
      new Promise<[number | null, NodeJS.Signals | null]>((resolve) => child.on('close', (...end) => resolve(end))),
      text(child.stdout),
      text(child.stderr),
    ])
    return { code, signal, stdout, stderr }
  }

  /** Paths below the place are shown from there. */
  async function cadre(argv: readonly string[], options?: RunOptions): Promise<Run> {
    const { stdout, stderr, ...end } = await run(NODE, [MAIN, ...argv], options)
    return { ...end, stdout: stdout.replaceAll(`${folder}/`, ''), stderr: stderr.replaceAll(`${folder}/`, '') }
  }
  return {
    folder,
    root,
    env,
    write,
    run,
    cadre,
    /** The answer of a command with `--json`. */
    async json(argv: readonly string[], options?: RunOptions): Promise<unknown> {
      const { stdout, stderr } = await run(NODE, [MAIN, ...argv, '--json'], options)
      if (stdout === '') throw new Error(stderr)
      return JSON.parse(stdout)
    },
  }
}

/** An agent file. */
export const agent = (name: string, fields = '', body = 'Do it.'): string =>
  `---\nname: ${name}\ndescription: does ${name}\n${fields}---\n${body}\n`
