import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CadreError } from './core/errors.ts'
import type { Grant } from './core/grant.ts'
import { openShell } from './shell/open-shell.ts'
import type { Shell } from './shell/open-shell.ts'
import type { Probe } from './shell/probe.ts'
import { shellText } from './shell/shell-text.ts'
import { policyOf } from '../sandbox/shell/policy.ts'
import type { ShellPlace } from '../sandbox/shell/policy.ts'
import { branchOf, commonDirOf, gitDirOf, mainCheckout } from '../worktrees/repository.ts'

/** One agent's bash, as its tool and the judge of its calls see it. */
export type AgentShell = {
  /** Whether the kernel keeps it inside the grant (SHL-01). */
  readonly confined: boolean
  /** `ok`: it exited with 0. Rejects when no command can be run at all, and with the signal's reason. */
  run(command: string, limits: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<{ readonly text: string; readonly ok: boolean }>
  /** Ends all it started; none of it is alive when this settles. */
  close(): Promise<void>
}

/** What shells of a process are opened with. */
export type ShellSettings = {
  /** What can confine one here; null: the setting `sandbox` is `off`. */
  readonly probe: Probe | null
  readonly userHome: string
  /** Folders of Cadre's own that no agent sees, absolute. */
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Setting `shell.env`. */
  readonly passed: readonly string[]
}

/** Opened at its first command: most agents never run one. */
export function agentShell(grant: Grant, { probe, userHome, hidden, env, passed }: ShellSettings): AgentShell {
  const by = probe !== null && probe.kind !== null ? probe : null
  let opened: { readonly shell: Shell; readonly tmp: string } | null = null
  let closed = false

  function shell(): Shell {
    if (closed) throw new CadreError('STOPPED', 'The agent has ended')
    if (opened) return opened.shell
    const tmp = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-agent-')))
    const place: ShellPlace = { home: userHome, tmp, runtimeDir: env['XDG_RUNTIME_DIR'] ?? null, hidden: hidden.filter(existsSync), git: gitOf(grant.root) }
    const confined = by === null ? null : { by, policy: policyOf(grant, place) }
    opened = { tmp, shell: openShell({ confined, root: grant.root, env, passed, tmp }) }
    return opened.shell
  }

  return {
    confined: by !== null,
    async run(command, limits) {
      const end = await shell().run(command, limits)
      return { text: shellText(end), ok: end.ending.kind === 'exit' && end.ending.code === 0 }
    },
    async close() {
      closed = true
      if (opened === null) return
      await opened.shell.close()
      rmSync(opened.tmp, { recursive: true, force: true })
    },
  }
}

function gitOf(root: string): ShellPlace['git'] {
  const dotGit = statSync(join(root, '.git'), { throwIfNoEntry: false })
  if (dotGit?.isDirectory()) return 'own'
  const checkout = dotGit ? mainCheckout(root) : null
  const gitDir = checkout === null ? null : gitDirOf(root)
  if (checkout === null || gitDir === null) return 'none'
  const refOf = (folder: string) => {
    const branch = branchOf(folder)
    return branch === null ? null : `refs/heads/${branch}`
  }
  return { mainCheckout: checkout, commonDir: realpathSync(commonDirOf(gitDir)), gitDir: realpathSync(gitDir), branch: refOf(root), mainBranch: refOf(checkout) }
}
