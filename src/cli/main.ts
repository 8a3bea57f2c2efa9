// This file must parse and run on a Node from before 2020: no static import, and no newer syntax, until the version is checked.
const version = process.versions.node
const tooOld = Number(version.split('.')[0]) < 24

async function start() {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  const { main } = await import('./cli.ts')
  process.exitCode = await main(process.argv.slice(2))
}

if (tooOld) {
  const install = 'install Node 26 from https://nodejs.org, or with `nvm install 26`'
  process.stderr.write(`Cadre needs Node 24 or newer (this is ${version}): ${install}\n`)
  process.exitCode = 2
} else {
  start().catch((error: unknown) => {
    process.stderr.write(`cadre: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}
