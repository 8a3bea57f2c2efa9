import type { AgentResult } from '../core/result.ts'
import type { IdleOptions, Orchestrator } from '../api.ts'
import type { JsonObject } from '../core/json.ts'
import { describeEnding } from '../core/status.ts'
import type { Ending } from '../core/status.ts'
import { answerText } from './answer.ts'
import type { CliContext } from './context.ts'
import { diagnosticsTo } from './diagnostics.ts'
import { createEventStream } from './event-stream.ts'
import { errorText } from './error-text.ts'
import { exitCodeOfStatus } from './exit-code.ts'
import { createNarrator } from './narrator.ts'

export type HeadlessFlags = {
  readonly agents?: JsonObject
  readonly outputFormat: 'text' | 'json' | 'stream-json'
  readonly verbose?: boolean
}

type Common = IdleOptions & { readonly signal: AbortSignal }

/**
 * A run nobody watches (CMD-02): its answer on stdout as the format says, all else on stderr. Returns when its background agents have ended, too,
 * which may be after the answer (DEL-05).
 */
export async function headless(
  context: CliContext,
  flags: HeadlessFlags,
  start: (orchestrator: Orchestrator, common: Common) => Promise<AgentResult & { readonly session: string }>,
  onStarted?: (orchestrator: Orchestrator, session: string, context: CliContext) => void,
): Promise<void> {
  const { stdout, stderr } = context
  const narrator = createNarrator(context, { verbose: flags.verbose ?? false })
  const stream = flags.outputFormat !== 'stream-json' ? null
    : createEventStream(stdout, (session, afterSeq) => orchestrator.journal.events({ session, afterSeq }))
  const orchestrator = await context.open({
    ...(flags.agents && { agents: flags.agents }),
    onEvent(event) {
      if (event.type === 'session.started') onStarted?.(orchestrator, event.session, context)
      stream?.onEvent(event)
      narrator.onEvent(event)
    },
    onDiagnostic: diagnosticsTo(context),
  })
  // An answer that is not the last is told on the side: stdout has one (CMD-02).
  const running = start(orchestrator, { signal: context.interrupted, onAnswer: (text) => void stderr.write(`${text}\n`) })
  try {
    const result = await running
    if (flags.outputFormat === 'text') stdout.write(answerText(result))
    if (flags.outputFormat === 'json') stdout.write(`${JSON.stringify(result)}\n`)
    if (!result.success) tellFailure(context, result)
    for (const note of result.note.split('\n').filter(Boolean)) stderr.write(`cadre: note: ${errorText(note)}\n`)
    context.setExitCode(exitCodeOfStatus(result.status))
    const left = orchestrator.agents.list().filter(({ ended }) => ended === null).length
    if (left > 0) {
      stderr.write(`cadre: ${left} sub-agent${left === 1 ? ' goes' : 's go'} on in the background; Ctrl-C stops ${left === 1 ? 'it' : 'them'}. ` +
        `Results stay in the session: cadre --resume ${result.session} -p '…'\n`)
    }
  } finally {
    await orchestrator.settled()
    await stream?.end() // its events are written, however it ends
    narrator.end()
  }
}

/** What ended a run, and how to go on with what it has. */
function tellFailure({ stderr, interrupted }: CliContext, result: AgentResult & { readonly session: string }): void {
  stderr.write(`cadre: ${describeEnding(result as Ending)}: ${errorText(result.error ?? '')}\n`)
  if (interrupted.aborted) stderr.write(`cadre: go on with what it has: cadre --resume ${result.session} -p '…'\n`)
}
