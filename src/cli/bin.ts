#!/usr/bin/env node
// The command `cadre`. Like main.ts it must parse on an old Node: inside a checkout, that Node hands over to the one the lockfile pins.
async function start() {
  const pinned = Number(process.versions.node.split('.')[0]) < 24 ? await pinnedNode() : undefined
  if (pinned === undefined) await import('./main.ts')
  else await handOver(pinned)
}

/** The Node that `npm ci` puts into a checkout; a published package has none below its own root. */
async function pinnedNode() {
  const { existsSync } = await import('node:fs')
  const { fileURLToPath } = await import('node:url')
  for (const root of ['../../', '../../../']) { // this file is src/cli/bin.ts or dist/src/cli/bin.js
    for (const place of ['node_modules/node/bin/node', 'node_modules/node/bin/node.exe']) {
      const file = fileURLToPath(new URL(root + place, import.meta.url))
      if (existsSync(file)) return file
    }
  }
  return undefined
}

/** Run main with another Node in this one's place: same arguments and streams, and its exit code or signal becomes ours. */
async function handOver(node: string) {
  const { spawn } = await import('node:child_process')
  const { fileURLToPath } = await import('node:url')
  const extension = import.meta.url.slice(-3)
  const main = fileURLToPath(new URL('./main' + extension, import.meta.url))
  const child = spawn(node, [main].concat(process.argv.slice(2)), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us: passing it on would make it two.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('error', error => {
    process.stderr.write(`Cadre could not start ${node}: ${error.message}. Run \`npm ci\` in the checkout again.\n`)
    process.exitCode = 2
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

void start()
