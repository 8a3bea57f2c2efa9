import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CadreError } from '../core/errors.ts'

const here = import.meta.url
/** From source `.ts` starts `.ts`; in the build this file's chunk lies as deep as its folder does here. */
const FROM_SOURCE = here.endsWith('.ts')
const entry = new URL(`../../sandbox/isolate/process${FROM_SOURCE ? '.ts' : '.js'}`, here)

/** Where node-gyp-build looks to choose between the binaries for glibc and for musl. */
const LIBC_MARK = '/etc/alpine-release'

/** How to start an isolate process so that it holds nothing (DESIGN, "Why isolates live in child processes"). */
export type Lockdown = {
  readonly filename: string
  readonly execArgv: string[]
  readonly env: Record<string, string>
  /** Where isolated-vm really is: the process cannot look for it. */
  readonly isolatedVm: string
}

/**
 * No writes, no children, no threads, no network (from Node 26), and reading only its own code and the packages it is made of. Times of day
 * are in UTC, so that a program says the same on every machine. Throws ISOLATE_UNAVAILABLE when a package is not installed.
 */
export function lockdown(): Lockdown {
  const own = [new URL('.', entry), ...(FROM_SOURCE ? [new URL('../core/', here)] : [])].map((url) => fileURLToPath(url))
  const isolatedVm = packageFolder('isolated-vm', fileURLToPath(here)).real
  const loader = packageFolder('node-gyp-build', join(isolatedVm, 'package.json'))
  const tinypool = packageFolder('tinypool', fileURLToPath(here)).real
  const readable = [...own, ...[isolatedVm, loader.linked, loader.real, tinypool].map((folder) => `${folder}/`), LIBC_MARK]
  return {
    filename: fileURLToPath(entry),
    execArgv: [
      '--permission', '--allow-addons', ...readable.map((path) => `--allow-fs-read=${path}`), '--no-node-snapshot',
      '--disable-warning=SecurityWarning',
    ],
    env: { TZ: 'UTC' },
    isolatedVm,
  }
}

/** The nearest `node_modules/<name>` from a file upwards, as Node looks for it and as it really is: some package managers link. */
function packageFolder(name: string, from: string): { readonly linked: string; readonly real: string } {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const linked = join(folder, 'node_modules', name)
    if (existsSync(linked)) return { linked, real: realpathSync(linked) }
    if (folder === dirname(folder)) throw isolateUnavailable(new Error(`the package ${name} is not installed`))
  }
}

/** The one error for an isolate that cannot be had. `cause`: what loading it said. */
export const isolateUnavailable = (cause: unknown, what = 'A program'): CadreError =>
  new CadreError('ISOLATE_UNAVAILABLE',
    `${what} needs isolated-vm; it is not installed for Node ${process.versions.node.split('.').slice(0, 2).join('.')}. ` +
    'Run `npm rebuild isolated-vm`, or choose a type without `model: script`.', { cause })
