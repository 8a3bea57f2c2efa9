import { AsyncLocalStorage } from 'node:async_hooks'
import { type Fetch, providerFetch } from './provider-fetch.ts'

const current = new AsyncLocalStorage<Fetch>()

/** providerFetch for models that serve many calls: whatever `withFetch` set for the call it is made in. */
export const callFetch: Fetch = (input, init) => (current.getStore() ?? providerFetch)(input, init)

/** Runs one call of a model; its requests go through `own`. */
export const withFetch = <T>(own: Fetch, call: () => T): T => current.run(own, call)
