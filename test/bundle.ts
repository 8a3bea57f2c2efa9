import { rmSync } from 'node:fs'
import { bundle } from '../scripts/bundle.ts'
import { BUILT } from './built.ts'

/** Runs once before all tests: those that start the command start what would be published. */
export async function setup(): Promise<void> {
  rmSync(BUILT, { recursive: true, force: true })
  await bundle(BUILT)
}
