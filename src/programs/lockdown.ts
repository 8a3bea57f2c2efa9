import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CadreError } from '../core/errors.ts'

const here = import.meta.url
/** Sources and build mirror each other: `.ts` starts `.ts`. */
const entry = new URL(`../../sandbox/isolate/process${here.endsWith('.ts') ? '.ts' : '.js'}`, here)

/** Where node-gyp-build looks to choose between the binaries for glibc and for musl. */
const LIBC_MARK = '/etc/alpine-release'

/** How to start an isolate process so that it holds nothing (DESIGN, "Why isolates live in child processes"). */
export type Lockdown = { readonly filename: string; readonly execArgv: string[]; readonly env: Record<string, string> }

/**
 * No writes, no children, no threads, no network (from Node 26), and reading only its own code and the packages it is made of. Times of day are
 * in UTC, so that a program says the same on every machine. Throws ISOLATE_UNAVAILABLE when a package is not installed.
 */
export function lockdown(): Lockdown {
  const readable = [new URL('.', entry), new URL('../core/', here), new URL('../../package.json', here)].map((url) => fileURLToPath(url))
  return {
    filename: fileURLToPath(entry),
    execArgv: [
      '--permission',
      '--allow-addons',
      ...[...readable, ...packageFolders(), LIBC_MARK].map((path) => `--allow-fs-read=${path}`),
      '--no-node-snapshot',
      '--disable-warning=SecurityWarning',
    ],
    env: { TZ: 'UTC' },
  }
}

function packageFolders(): readonly string[] {
  try {
    const ours = createRequire(here)
    const isolatedVm = ours.resolve('isolated-vm/package.json')
    const files = [ours.resolve('tinypool/package.json'), isolatedVm, createRequire(isolatedVm).resolve('node-gyp-build/package.json')]
    return files.map((file) => `${dirname(file)}/`)
  } catch (error) {
    throw isolateUnavailable(error)
  }
}

/** The one error for an isolate that cannot be had. `cause`: what loading it said. */
export const isolateUnavailable = (cause: unknown, what = 'A program'): CadreError =>
  new CadreError('ISOLATE_UNAVAILABLE',
    `${what} needs isolated-vm; it is not installed for Node ${process.versions.node.split('.').slice(0, 2).join('.')}. ` +
    'Run `npm rebuild isolated-vm`, or choose a type without `model: script`.', { cause })
