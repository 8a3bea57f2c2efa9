/** Runs once before all tests: those that start the command start what would be published. */
export { bundle as setup } from '../scripts/bundle.ts'
