import { describe, expect, test } from 'vitest'
import { createModels, type Models, type Pause } from '../../src/models/models.ts'
import { ask, KEY, modelsAt, PROVIDERS } from './ask.ts'
import { type RawServer, rawServer } from './raw-server.ts'

type Redirect = { readonly models: Models; readonly here: RawServer; readonly there: RawServer; readonly pauses: readonly Pause[] }

/** A provider that sends every request on to `location`, and a foreign server, whose address stands for `$`. */
async function redirect(status: number, location: string | null): Promise<Redirect> {
  const there = await rawServer((response) => void response.end('{}'))
  const here = await rawServer((response) => {
    const headers = location === null ? {} : { location: location.replace('$', there.url) }
    response.writeHead(status, headers).end(`gone to ${there.url}`)
  })
  const pauses: Pause[] = []
  const models = modelsAt(here.url, {
    providers: {
      google: { type: 'google', baseUrl: here.url, apiKeyEnv: 'GOOGLE_API_KEY' },
      compatible: { type: 'openai-compatible', baseUrl: `${here.url}/v1`, apiKeyEnv: 'OPENAI_API_KEY' },
    },
    env: { ANTHROPIC_BASE_URL: here.url, OPENAI_BASE_URL: `${here.url}/v1`,
      ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GOOGLE_API_KEY: KEY },
    onPause: (pause) => void pauses.push(pause),
  })
  return { models, here, there, pauses }
}

describe.each([...PROVIDERS, 'google'])('JRN-08: a redirect of %s', (provider) => {
  test.each([301, 302, 303, 307, 308])('(%i) is not followed: the other host sees no request, no key and no prompt', async (status) => {
    const { models, here, there, pauses } = await redirect(status, '$/v1/elsewhere?and=more')
    const message = `${provider}/m failed: a redirect (${status}) to ${there.url}. Requests and keys follow no redirect. ` +
      `If ${provider} has moved there, set providers.${provider}.baseUrl to its address.`
    await expect(ask(models.open(`${provider}/m`))).rejects.toMatchObject({ code: 'MODEL', message })
    expect(there.count()).toBe(0)
    expect(here.count()).toBe(1)
    expect(pauses).toEqual([])
  })

  test('is not followed to another path of its own either, and is named whatever it says', async () => {
    for (const [location, where] of [['/other', null], [null, 'an address it does not name'], ['http://[', 'no web address'],
      ['data:text/plain,x', 'no web address'], [`http://${KEY}.example/`, 'http://[key].example']] as const) {
      const { models, here } = await redirect(307, location)
      const said: unknown = expect.stringContaining(`a redirect (307) to ${where ?? here.url}. `)
      await expect(ask(models.open(`${provider}/m`))).rejects.toMatchObject({ code: 'MODEL', message: said })
      expect(here.count()).toBe(1)
    }
  })

  test('is not followed to list its models', async () => {
    const { models, there } = await redirect(307, '$/v1/models')
    const listing = (await models.list()).find((one) => one.provider === provider)
    expect(listing?.problem)
      .toBe(`its models cannot be listed: a redirect (307) to ${there.url}; if it moved, set providers.${provider}.baseUrl`)
    expect(there.count()).toBe(0)
  })
})

test('a local server that redirects is not one that can be used', async () => {
  const { here, there } = await redirect(302, '$')
  const listings = await createModels({ providers: {}, env: { OLLAMA_HOST: here.url }, aliases: {} }).list()
  expect(listings.map(({ provider }) => provider)).not.toContain('ollama')
  expect(there.count()).toBe(0)
})
