/** Builds `dist/`: the bundles, the agent types beside them, and the types of the library. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundle } from './bundle.ts'

const root = dirname(import.meta.dirname)
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

rmSync(join(root, 'dist'), { recursive: true, force: true })
await bundle()
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
process.exitCode = status ?? 1
