import { bundle } from '../scripts/bundle.ts'

/** Runs once before all tests: those that start the command start what would be published. */
export const setup = (): Promise<void> => bundle()
