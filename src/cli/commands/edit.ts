import type { Command } from 'commander'
import type { EditItem, EditSummary } from '../../api.ts'
import { counted } from '../../sweep/figures.ts'
import type { CliContext } from '../context.ts'
import { diagnosticsTo } from '../diagnostics.ts'
import { EXIT } from '../exit-code.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { overOf, overOptions, overRequest } from '../sweep/over.ts'
import type { OverFlags } from '../sweep/over.ts'
import { createProgressLine } from '../sweep/progress.ts'
import { renderTable } from '../table.ts'

type Flags = OverFlags & {
  readonly verify?: string
  readonly keep?: boolean
  readonly json?: boolean
}

/** `cadre edit`: one writing agent per item, each in a worktree, merged through the queue (CMD-06). */
export function register(program: Command, context: CliContext): void {
  const command = program
    .command('edit [prompt]')
    .description('run a writing agent once per file, row or line, each in a git worktree, and merge what they change')
  overOptions(command, 'implementer')
    .option('--verify <command>', 'what must succeed on the merged tree before anything lands')
    .option('--keep', 'merge nothing: each agent leaves its branch and worktree')
    .option('--json', 'print the summary as JSON')
    .action(async (prompt: string | undefined, flags: Flags) => {
      const over = overOf(flags, 'edit')
      const orchestrator = await context.open({
        watch: false,
        onDiagnostic: diagnosticsTo(context),
        settings: { worktrees: { merge: flags.keep ? 'keep' : 'queue' }, ...(flags.verify !== undefined && { verify: { command: flags.verify } }) },
      })
      const progress = createProgressLine({ stream: context.stderr, isTTY: context.stderr.isTTY === true, now: () => performance.now() })
      const summary = await orchestrator.edit(overRequest(over, prompt, flags, context, progress)).finally(() => progress.end())
      context.stdout.write(flags.json ? `${JSON.stringify(summary)}\n` : report(summary, styleOf(context.stdout, context.env)))
      context.setExitCode(exitCodeOf(summary))
    })
}

/** What a person has to look at comes first. */
const ORDER: readonly EditItem['status'][] = ['conflict', 'red', 'overlap', 'failed', 'lost', 'killed', 'partial', 'kept', 'landed', 'unchanged']
const FINE: readonly EditItem['status'][] = ['landed', 'unchanged', 'kept']

function report(summary: EditSummary, style: Style): string {
  const { paint } = style
  const rows = summary.items.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  const table = renderTable(
    [{ title: 'STATUS' }, { title: 'ITEM', cut: 'start' }, { title: 'WHAT', cut: 'end' }],
    rows.map((row) => [{ text: row.status, paint: FINE.includes(row.status) ? paint.green : paint.red }, row.item, whatOf(row)]),
    style,
  )
  const counts = ORDER.flatMap((status) => {
    const count = rows.filter((row) => row.status === status).length
    return count > 0 ? [`${count} ${status}`] : []
  })
  const before = summary.cached > 0 ? [`${summary.cached} done before`] : []
  const left = summary.left > 0 ? [`${summary.left} not run`] : []
  const reason = summary.reason === null ? '' : `${summary.reason}\n`
  return `${table}${table === '' ? '' : '\n'}${counted(summary.total, 'item')}: ${[...counts, ...before, ...left].join(', ') || 'nothing to do'}\n${reason}${nextStep(rows)}`
}

function whatOf({ result }: EditItem): string {
  const { merge, worktree, error } = result
  switch (merge?.status) {
    case 'landed': return merge.commit.slice(0, 12)
    case 'conflict': return `${merge.branch}: ${merge.files.join(', ')}`
    case 'red': return `${merge.branch}: ${merge.log.trimEnd().split('\n').at(-1) ?? ''}`
    case 'overlap': return `${merge.branch}: you have changes in ${merge.files.join(', ')}`
    default: return worktree ? worktree.branch : (error ?? '')
  }
}

/** What somebody does with branches that did not land. */
function nextStep(rows: readonly EditItem[]): string {
  const open = rows.filter(({ status, result }) => result.worktree !== null && status !== 'landed')
  return open.length === 0 ? '' : `Branches that are not merged are in worktrees: git worktree list. Merge one with git merge <branch>, drop it with git worktree remove -f -f <folder>.\n`
}

function exitCodeOf({ status, items }: EditSummary): number {
  if (status === 'interrupted') return EXIT.interrupted
  return status === 'completed' && items.every((item) => FINE.includes(item.status)) ? EXIT.completed : EXIT.failed
}
