import { AsyncLocalStorage } from 'node:async_hooks'
import { type Fetch, providerFetch } from './provider-fetch.ts'

const current = new AsyncLocalStorage<Fetch>()

/**
 * What models that serve many calls send their requests by: whatever `withFetch` set for the call they are made in. The packages ask for a
 * whole fetch; what they send for language models is JSON under plain headers, and of the Response they read what an Answer has (test/models
 * goes through all of them).
 */
export const callFetch = (async (input: unknown, init: { readonly headers?: unknown; readonly body?: unknown } = {}) => {
  if (typeof input !== 'string' || (init.body !== undefined && typeof init.body !== 'string')) {
    throw new TypeError('A provider package sent what is no text, which Cadre does not take.')
  }
  return (current.getStore() ?? providerFetch)(input, init as Parameters<Fetch>[1])
}) as unknown as typeof globalThis.fetch

/** Runs one call of a model; its requests go through `own`. */
export const withFetch = <T>(own: Fetch, call: () => T): T => current.run(own, call)
