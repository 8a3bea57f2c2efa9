import { bundle } from '../scripts/bundle.ts'
import { styleOf } from '../src/cli/style.ts'
import { openBench } from './bench.ts'
import { judge } from './figure.ts'
import { SCENARIOS } from './scenarios.ts'
import { renderFigures } from './table.ts'

await bundle()
const bench = openBench({ repeats: Number(process.argv[2] ?? 5), quick: process.argv[3] === 'quick', tell: (line) => void process.stderr.write(`${line}\n`) })
try {
  for (const scenario of SCENARIOS) process.stdout.write(renderFigures((await scenario.run(bench)).map(judge), styleOf(process.stdout, process.env)))
} finally {
  await bench.close()
}
