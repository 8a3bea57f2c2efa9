/** Builds `dist/`, which mirrors the tree: code at `dist/src`, `dist/sandbox`, `dist/worktrees`, and the agent types beside it. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

rmSync(join(root, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const agents = join(root, 'agents')
if (existsSync(agents)) cpSync(agents, join(root, 'dist', 'agents'), { recursive: true })
chmodSync(join(root, 'dist', 'src', 'cli', 'bin.js'), 0o755)
