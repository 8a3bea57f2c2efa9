import { keyOf, type Environment, type Provider } from './provider-settings.ts'
import type { TryFailure } from './try-failure.ts'

/** What a person can do about a call that failed for good, in one sentence or two. */
export function remedyFor(failure: TryFailure, provider: Provider, model: string, env: Environment): string {
  const key = keyOf(provider, env)?.name ?? provider.keyEnv[0]
  switch (failure.status) {
    case 401:
      if (key !== undefined) return `${provider.name} refused the key in ${key}: set ${key} to a valid one.`
      return `${provider.name} asks for a key: set providers.${provider.name}.apiKeyEnv to the environment variable that holds it.`
    case 403:
      return `Check that ${key === undefined ? 'this account' : `the key in ${key}`} may use ${model}.`
    case 404:
      return `Check the model's name with \`cadre models\`, and the address ${provider.baseUrl ?? ''} of provider ${provider.name}.`
    case 413:
      return 'The request is too large for the provider: give the agent less to read at once.'
    case 429:
      return `The rate limit or quota of ${provider.name} is used up: wait, or run fewer agents at once (limits.maxRunning).`
    default:
  }
  switch (failure.kind) {
    case 'refused':
      return 'The request will be refused again: check what the model takes (context length, tools, effort), or choose another model.'
    case 'oversize':
      return `No model writes that much: check the address ${provider.baseUrl ?? ''} of provider ${provider.name}, or choose another model.`
    case 'redirect':
      return 'Requests and keys follow no redirect. ' +
        `If ${provider.name} has moved there, set providers.${provider.name}.baseUrl to its address.`
    case 'network':
      if (provider.local) return `Is ${provider.name} running at ${provider.baseUrl ?? ''}? Start it, or choose another model.`
      return `Check the network, and the address ${provider.baseUrl ?? ''} of provider ${provider.name}.`
    case 'silence':
      return 'Raise models.silence if the model thinks longer than that, or choose another model.'
    case 'empty':
      return 'Ask again, or choose another model.'
    case 'rate':
    case 'server':
    case 'stream':
    case 'stopped':
      return `The fault is on the side of ${provider.name}: try again later, or choose another model.`
  }
}
