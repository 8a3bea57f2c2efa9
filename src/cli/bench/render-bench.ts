import type { Style } from '../style.ts'
import { figureColumns, renderTable } from '../table.ts'
import type { BenchReport } from './run-bench.ts'

/** What `cadre bench` shows people. */
export function renderBench({ version, node, cores, spawn, throughput, memory }: BenchReport, style: Style): string {
  const rows = throughput.map(({ width, wallMs, perSecond }) => [String(width), `${ms(wallMs)} ms`, perSecond.toFixed(0)])
  return [
    style.paint.dim(`Cadre ${version}, Node ${node}, ${cores} cores, a fake provider without latency`),
    '',
    `From a sub-agent's start to its first model request: median ${ms(spawn.medianMs)} ms, p99 ${ms(spawn.p99Ms)} ms (${spawn.count} starts)`,
    `Memory: ${memory.perAgentMb.toFixed(2)} MB for each agent that waits for its model (${memory.agents} alive, ${memory.peakMb.toFixed(0)} MB in all)`,
    '',
    renderTable(figureColumns('at once', 'wall', 'sub-agents/s'), rows, style),
  ].join('\n')
}

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0))
