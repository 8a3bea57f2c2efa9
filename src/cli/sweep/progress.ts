import type { SweepProgress } from '../../sweep/contract.ts'
import { count, duration, money } from '../../sweep/figures.ts'
import { createPaint } from '../paint.ts'
import { fit, printable } from '../terminal-text.ts'
import { createPace } from './pace.ts'

/** The part of a TTY or a pipe the line is written to. */
export type ProgressStream = { write(text: string): unknown; readonly columns?: number }

export type ProgressOptions = {
  readonly stream: ProgressStream
  readonly isTTY: boolean
  /** A monotonic clock in ms. */
  readonly now?: () => number
  /** Default: on a terminal, unless `NO_COLOR` is set. */
  readonly colour?: boolean
}

/** `update` as often as you like; `note` prints a line of its own without tearing the progress line; `end` leaves the terminal clean. */
export type ProgressLine = { update(progress: SweepProgress): void; note(line: string): void; end(): void }

const LIMITS = { redrawMs: 100, idleRedrawMs: 1_000, plainMs: 5_000, plainStep: 0.1, plainLeastMs: 1_000, columns: 80 } as const
const CLEAR = '\r\u001b[2K'

/**
 * One line of progress (CMD-12): on a terminal redrawn in place, at most 10 times a second and never wider than it; elsewhere plain
 * lines, every 5 s or 10 %, and one at the end.
 */
export function createProgressLine({ stream, isTTY, now = () => performance.now(), colour }: ProgressOptions): ProgressLine {
  const paint = createPaint(colour ?? (isTTY && !process.env['NO_COLOR']))
  const pace = createPace()
  let latest: SweepProgress | null = null
  let drawnAt = -Infinity
  let drawn: SweepProgress | null = null

  const text = (progress: SweepProgress) => {
    const { failed } = progress
    const plain = fields(progress, pace.at(now())).join('  ')
    const fitted = isTTY ? fit(plain, (stream.columns ?? LIMITS.columns) - 1) : plain
    return failed > 0 ? fitted.replace(`${count(failed)} failed`, (part) => paint.red(part)) : fitted
  }
  const draw = (progress: SweepProgress) => {
    stream.write(isTTY ? CLEAR + text(progress) : `${text(progress)}\n`)
    drawnAt = now()
    drawn = progress
  }
  const isDue = (progress: SweepProgress) => {
    const since = now() - drawnAt
    if (isTTY) return since >= LIMITS.redrawMs
    const step = drawn === null ? 1 : (progress.done - drawn.done) / Math.max(1, progress.total)
    return since >= LIMITS.plainMs || (since >= LIMITS.plainLeastMs && step >= LIMITS.plainStep)
  }
  // Time left goes on counting while no agent ends.
  const timer = setInterval(() => {
    if (latest && now() - drawnAt >= (isTTY ? LIMITS.idleRedrawMs : LIMITS.plainMs)) draw(latest)
  }, LIMITS.idleRedrawMs)
  timer.unref()

  return {
    update(progress) {
      latest = progress
      pace.add(now(), progress.done - progress.cached)
      if (isDue(progress)) draw(progress)
    },
    note(line) {
      stream.write(`${isTTY && drawn ? CLEAR : ''}${line}\n`)
      if (isTTY && latest) draw(latest)
    },
    end() {
      clearInterval(timer)
      if (isTTY) {
        if (drawn) stream.write(CLEAR)
      } else if (latest && latest !== drawn) draw(latest)
      latest = null
    },
  }
}

/** What the line says, most important first: a narrow terminal cuts the rest. */
function fields({ total, done, failed, running, costUsd, cached }: SweepProgress, perSecond: number | null): readonly string[] {
  const percent = total === 0 ? 0 : Math.floor((done / total) * 100)
  return [
    `${count(done)}/${count(total)} (${percent} %)`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    `${count(running)} running`,
    ...(perSecond === null ? [] : [rate(perSecond)]),
    ...(perSecond === null || done >= total ? [] : [`${duration(((total - done) / perSecond) * 1000)} left`]),
    ...(costUsd > 0 ? [money(costUsd)] : []),
    ...(cached > 0 ? [`${count(cached)} done earlier`] : []),
  ].map(printable)
}

function rate(perSecond: number): string {
  if (perSecond >= 10) return `${count(Math.round(perSecond))}/s`
  return perSecond >= 1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`
}
