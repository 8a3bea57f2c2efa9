import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { nearest } from '../src/core/nearest.ts'
import type { Scenario } from './scenario.ts'

export type Options = {
  readonly scenarios: readonly Scenario[]
  readonly repeats: number
  readonly quick: boolean
  readonly json: boolean
  /** Names of other harnesses to measure; none: empty. */
  readonly peers: readonly string[]
  readonly plot: boolean
  /** Files of earlier runs. */
  readonly compare?: string
  readonly save?: string
}

/** What was asked for cannot be done; its message is one line. */
export class UsageError extends Error {}

/** The scenario that `--plot` draws. */
const PLOTTED = 'fan-out'

const REPEATS = { usual: 5, quick: 1 }

/** Reads the command line; throws UsageError. Null: help was asked for, and shown. */
export function readOptions(argv: readonly string[], known: readonly Scenario[], knownPeers: readonly string[]): Options | null {
  const command = new Command('npm run bench --')
    .description('Measures Cadre beside bare Node that does the same work, in the same run. Without a name, all scenarios.')
    .argument('[scenario...]')
    .option('--json', 'print machine, versions, figures and all repeats as JSON', false)
    .option('--save <file>', 'write that JSON into a file')
    .option('--compare <file>', 'print what changed since a saved run')
    .option('--repeats <n>', `how often each thing is measured (default ${REPEATS.usual})`, count)
    .option('--quick', 'small sizes, once: to see that all works', false)
    .option('--peers', 'fan out with other harnesses, installed into a temporary folder; without a named scenario nothing else', false)
    .option('--peer <names>', 'as --peers, with these only, separated by commas')
    .option('--plot', 'write docs/bench-throughput.svg and docs/bench-memory.svg', false)
    .addHelpText('after', `\nScenarios:\n${known.map(({ name, about }) => `  ${name.padEnd(10)} ${about}\n`).join('')}\nPeers: ${knownPeers.join(', ')}\n`)
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
  try {
    command.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return null
    throw new UsageError(error.message.replace(/^error: /, ''))
  }
  const { repeats, peer, peers: all, ...flags } = command.opts<Omit<Options, 'scenarios' | 'repeats' | 'peers'> & { repeats?: number; peer?: string; peers: boolean }>()
  const peers = peer === undefined ? (all ? knownPeers : []) : among('peer', peer.split(','), knownPeers)
  const names = among('scenario', command.args, known.map(({ name }) => name))
  const scenarios = names.length === 0 && peers.length === 0 ? known : known.filter(({ name }) => names.includes(name))
  if (flags.plot && (flags.quick || !scenarios.some(({ name }) => name === PLOTTED))) {
    throw new UsageError(`--plot draws what "${PLOTTED}" measures in full: name that scenario, without --quick`)
  }
  return { ...flags, repeats: repeats ?? (flags.quick ? REPEATS.quick : REPEATS.usual), scenarios, peers }
}

/** The names, when all are known; else throws UsageError with the nearest one. */
function among(what: string, names: readonly string[], known: readonly string[]): readonly string[] {
  for (const name of names) {
    if (known.includes(name)) continue
    const close = nearest(name, known)
    throw new UsageError(`unknown ${what} "${name}"${close ? `, did you mean "${close}"?` : `; there are ${known.join(', ')}`}`)
  }
  return names
}

function count(written: string): number {
  const number = Number(written)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return number
}
