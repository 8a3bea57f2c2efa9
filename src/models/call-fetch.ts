import { AsyncLocalStorage } from 'node:async_hooks'
import { providerFetch } from './provider-fetch.ts'

export type Fetch = typeof globalThis.fetch

const current = new AsyncLocalStorage<Fetch>()

/** fetch for models that serve many calls: whatever `withFetch` set for the call it is made in. */
export const callFetch: Fetch = (input, init) => (current.getStore() ?? providerFetch)(input, init)

/** Runs one call of a model; its requests go through `own`. */
export const withFetch = <T>(own: Fetch, call: () => T): T => current.run(own, call)
