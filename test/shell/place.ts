import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { policyOf } from '../../sandbox/shell/policy.ts'
import type { ShellPlace } from '../../sandbox/shell/policy.ts'
import type { Effect } from '../../src/core/contract.ts'
import type { Grant } from '../../src/core/grant.ts'
import { openShell } from '../../src/shell/open-shell.ts'
import type { Shell } from '../../src/shell/open-shell.ts'
import { probeShell } from '../../src/shell/probe.ts'

export const probe = await probeShell()

/** Why what needs bubblewrap cannot be tested here; null: it can. */
export const skipped = probe.kind === 'bubblewrap' ? null : `bubblewrap is needed: ${probe.kind === null ? probe.reason : probe.kind}`

/** A grant of these tools alone. */
export const grantOf = (root: string, tools: readonly (readonly [name: string, effect: Effect])[], more: Partial<Grant> = {}): Grant => ({
  type: 'coder',
  tools: tools.map(([name, effect]) => ({ name, effect, only: [] })),
  behalf: [],
  confinesShell: true,
  root,
  paths: [],
  types: { only: null, except: [] },
  mode: 'default',
  depth: 0,
  limits: { maxTurns: 10, timeout: 60 },
  defaults: { maxTurns: 10, timeout: 60 },
  ...more,
})

/** `git` of a test: nobody's settings, a fixed author. */
export function git(cwd: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: cwd } }).trim()
}

/** A home with keys, a repository with a commit and a hook, and two linked worktrees of it. `remove` at the end. */
export function createPlace() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-shell-')))
  const [home, main, tmp] = ['home', 'main', 'tmp'].map((name) => join(base, name)) as [string, string, string]
  const [own, other] = ['own', 'other'].map((name) => join(main, '.cadre/worktrees', name)) as [string, string]
  const commonDir = join(main, '.git')
  for (const folder of [join(home, '.ssh'), join(home, '.cadre'), main, tmp]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(home, '.ssh/id_rsa'), 'PRIVATE KEY')
  writeFileSync(join(home, '.npmrc'), 'token=PRIVATE TOKEN')
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = a\n\temail = a@b.c\n')
  git(main, 'init', '-q')
  writeFileSync(join(main, 'a.txt'), 'a\n')
  writeFileSync(join(main, 'package.json'), '{ "scripts": { "test": "node -e \\"console.log(6 * 7)\\"", "plant": "echo x > $TARGET" } }\n')
  writeFileSync(join(main, '.gitignore'), '.cadre\n')
  git(main, 'add', '.')
  git(main, 'commit', '-qm', 'first')
  git(main, 'worktree', 'add', '-q', own, '-b', 'cadre/own')
  git(main, 'worktree', 'add', '-q', other, '-b', 'cadre/other')
  const place: ShellPlace = { home, tmp, runtimeDir: null, hidden: [], git: 'own' }
  const worktree = { mainCheckout: main, commonDir, gitDir: join(commonDir, 'worktrees/own'), branch: 'refs/heads/cadre/own', mainBranch: 'refs/heads/main' }
  return { base, home, main, tmp, own, other, commonDir, place, worktree, remove: () => rmSync(base, { recursive: true, force: true }) }
}

export type TestPlace = ReturnType<typeof createPlace>

/** A shell confined by what follows from a grant. It sees the whole place, though that lies in the temp folder of the machine. */
export function confinedShell({ home, base }: TestPlace, grant: Grant, place: ShellPlace, env: Readonly<Record<string, string>> = {}): Shell {
  if (probe.kind === null) throw new Error(probe.reason)
  return openShell({
    confined: { policy: policyOf({ ...grant, paths: [base] }, place), by: probe },
    root: grant.root,
    env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', ...env },
    passed: Object.keys(env),
    tmp: place.tmp,
  })
}

/** All there is below some paths, with kinds, modes and contents: equal as long as nothing was changed. */
export function hashOf(...paths: readonly string[]): string {
  const hash = createHash('sha256')
  const visit = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    hash.update(`${path}\0${stat?.mode}\0${stat?.isFile() ? stat.nlink : ''}\0`)
    if (stat?.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (stat?.isFile()) hash.update(readFileSync(path))
    else if (stat?.isDirectory()) for (const name of readdirSync(path).toSorted()) visit(join(path, name))
  }
  for (const path of paths) visit(path)
  return hash.digest('hex')
}
