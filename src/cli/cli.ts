/** Run one command line; resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const usage = 'Usage: cadre [-p <prompt>] | cadre <command>\n'
  if (argv.includes('--help')) process.stdout.write(usage)
  else process.stderr.write(usage)
  return argv.includes('--help') ? 0 : 2
}
