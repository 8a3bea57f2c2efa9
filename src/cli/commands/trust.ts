import { resolve } from 'node:path'
import type { Command } from 'commander'
import { trustRoot, untrustRoot } from '../../settings/trust.ts'
import { userFolder } from '../../settings/user-folder.ts'
import { topLevel } from '../../../worktrees/repository.ts'
import type { CliContext } from '../context.ts'
import { writeJson } from '../write-all.ts'

type Flags = { readonly remove?: boolean; readonly json?: boolean }

/** `cadre trust [path] [--remove]`: lets a root's own files do more than shape prompts and narrow tools (SCO-06, SCO-07). */
export function register(program: Command, context: CliContext): void {
  program
    .command('trust [path]')
    .description('trust a folder and all below it (without a path: this project), so that its settings and agent files count in full')
    .option('--remove', 'trust it no longer')
    .option('--json', 'print JSON')
    .action(async (path: string | undefined, { remove = false, json = false }: Flags) => {
      const { home } = userFolder(context.env)
      const folder = path === undefined ? (topLevel(context.cwd) ?? context.cwd) : resolve(context.cwd, path)
      const change = remove ? await untrustRoot(home, folder) : await trustRoot(home, folder)
      if (json) writeJson(context.stdout, change)
      else context.stdout.write(`${'added' in change ? trusted(change) : untrusted(change)}\n`)
    })
}

const trusted = ({ root, file, added }: Awaited<ReturnType<typeof trustRoot>>): string =>
  added ? `${root} and all below it is trusted now (in ${file}).` : `${root} was trusted already (in ${file}).`

function untrusted({ root, file, removed, coveredBy }: Awaited<ReturnType<typeof untrustRoot>>): string {
  if (coveredBy !== null) return `${root} is still trusted: ${coveredBy} covers it. To end that: cadre trust ${coveredBy} --remove`
  return removed ? `${root} is trusted no longer (in ${file}).` : `${root} was not trusted (in ${file}).`
}
