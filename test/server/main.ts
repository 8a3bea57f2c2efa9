/**
 * `node test/server/main.ts [scenario] [port]`: a scripted provider to try the CLI against. Prints how to point Cadre at it, then one line
 * per request, until Ctrl-C.
 */
import { startProviderServer } from './provider-server.ts'
import { SCENARIOS } from './scenarios.ts'

const [name = 'fanout', port = '0'] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (!scenario || !/^\d{1,5}$/.test(port)) {
  const list = Object.entries(SCENARIOS).map(([known, { about }]) => `  ${known.padEnd(12)} ${about}`)
  process.stderr.write(`Usage: node test/server/main.ts [scenario] [port]\n${list.join('\n')}\n`)
  process.exit(2)
}

const server = await startProviderServer({
  port: Number(port),
  record: false,
  async script(request) {
    const answer = await scenario.script(request)
    process.stdout.write(`${request.wire} turn ${request.turn}: ${JSON.stringify(answer).slice(0, 120)}\n`)
    return answer
  },
})
process.stdout.write(
  `${server.url}  (scenario ${name})\n` +
  `  ANTHROPIC_BASE_URL=${server.url} ANTHROPIC_API_KEY=any cadre -p "…" --model anthropic/scripted-model\n` +
  `  OPENAI_BASE_URL=${server.url}/v1 OPENAI_API_KEY=any cadre -p "…" --model openai/scripted-model\n` +
  `  OLLAMA_HOST=${server.url} cadre -p "…" --model ollama/scripted-model\n`,
)
const stop = (): void => void server.close().then(() => process.exit(0))
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
