const BUILT = import.meta.url.endsWith('.js') ? 'js' : 'ts'

/** The file the fake provider of `cadre bench` starts with; from here, since this folder lies as deep as the bundles' chunks do. */
export const PROVIDER_ENTRY = new URL(`../../src/cli/bench/provider.${BUILT}`, import.meta.url)
