/** The environment variable by which the processes of a test run know its build. */
export const BUILD_FOLDER = 'CADRE_TEST_BUILD'

/** The build under test: a folder of its own for each test run, so that two at once, or one and a user of `dist`, do not disturb each other. */
export const BUILT = process.env[BUILD_FOLDER] ?? ''
