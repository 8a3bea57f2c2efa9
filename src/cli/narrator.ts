import { styleText } from 'node:util'
import type { CadreEvent } from '../core/events.ts'
import { describeEnding } from '../core/status.ts'
import { wholeCharacters } from '../core/title.ts'
import type { Ending } from '../core/status.ts'
import { duration } from '../sweep/figures.ts'
import type { CliContext } from './context.ts'
import { fit, printable } from './terminal-text.ts'
import { withoutControls } from './without-controls.ts'

const ARGUMENT_CHARACTERS = 60
/** What models, providers and files say, in one line. */
const LINE_COLUMNS = 200
const line = (text: string): string => fit(printable(text), LINE_COLUMNS)
/** DEL-09. */
const BACKGROUND_CHARACTERS = 80

/**
 * Tells a headless run on stderr: waits for a provider and the ends of background agents always, other sub-agents as they start and end on a terminal or when verbose, every tool call
 * when verbose. Never on stdout, which belongs to the answer (CMD-02).
 */
export function createNarrator({ stderr, env }: CliContext, { verbose }: { readonly verbose: boolean }): { onEvent(event: CadreEvent): void; end(): void } {
  const shown = verbose || stderr.isTTY === true
  const colour = stderr.isTTY === true && !env['NO_COLOR']
  const dim = (text: string) => (colour ? styleText('dim', text, { validateStream: false }) : text)
  const titles = new Map<string, string>()
  const background = new Set<string>()
  const say = (depth: number, text: string) => void stderr.write(`${'  '.repeat(Math.max(0, depth - 1))}${text}\n`)

  return {
    onEvent(event) {
      if ((event.type === 'delegation.started' || event.type === 'delegation.queued') && event.data.background) background.add(event.agent)
      if (event.type === 'delegation.ended' && background.delete(event.agent)) say(0, backgroundLine(event.data.result))
      if (!shown && event.type !== 'rate.paused') return
      switch (event.type) {
        case 'delegation.queued':
          if (event.depth > 0) say(event.depth, dim(`… ${event.data.agentType}: ${line(event.data.title)} (queued, ${event.data.ahead} ahead)`))
          return
        case 'delegation.started':
          titles.set(event.agent, line(event.data.title))
          if (event.depth > 0) say(event.depth, `▸ ${event.data.agentType}: ${line(event.data.title)} ${dim(`(${event.data.model})`)}`)
          return
        case 'delegation.ended': {
          titles.delete(event.agent)
          const { result } = event.data
          if (event.depth > 0) say(event.depth, `${result.success ? '✓' : '✗'} ${result.agentType}: ${line(result.title)} ${dim(`(${describeEnding(result as Ending)}, ${result.turns} turns, ${duration(result.durationMs)})`)}`)
          return
        }
        case 'delegation.refused':
          say(event.depth + 1, `✗ refused: ${line(event.data.reason)}`)
          return
        case 'rate.paused':
          say(event.depth, dim(`⏸ ${event.data.provider}: ${line(event.data.reason)}; try ${event.data.attempt} in ${duration(event.data.waitMs)}`))
          return
        case 'tool.started':
          if (verbose) say(event.depth + 1, dim(`${titles.get(event.agent) ?? event.agent}  ${line(event.data.call.name)} ${fit(printable(JSON.stringify(event.data.call.input)), ARGUMENT_CHARACTERS)}`))
          return
        case 'tool.ended':
          if (verbose && !event.data.outcome.ok) say(event.depth + 1, dim(`${titles.get(event.agent) ?? event.agent}  ${line(event.data.outcome.text.split('\n')[0] ?? '')}`))
          return
        default:
      }
    },
    end: () => titles.clear(),
  }
}

/** DEL-09. */
const backgroundLine = ({ status, title }: { readonly status: string; readonly title: string }): string =>
  wholeCharacters(`Background agent ${status}: ${withoutControls(title)}`.slice(0, BACKGROUND_CHARACTERS))
