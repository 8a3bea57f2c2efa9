import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../scripts/bundle.ts'
import { BUILD_FOLDER } from './built.ts'

/** Runs once before all tests: those that start the command start what would be published, built for this run alone. */
export async function setup(): Promise<() => void> {
  const built = join(import.meta.dirname, '..', '.cache', `test-build-${process.pid}`)
  process.env[BUILD_FOLDER] = built
  await bundle(built)
  return () => rmSync(built, { recursive: true, force: true })
}
