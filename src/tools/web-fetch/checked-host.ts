import { isIP } from 'node:net'
import type { HostAddress, WebAccess } from './web-access.ts'

/**
 * The addresses of a URL's host, all of which may be reached. Throws for a host that does not exist, and for one of whose addresses a single one may not:
 * who mixes them in is trying something.
 */
export async function checkedHost({ hostname }: URL, web: WebAccess): Promise<readonly HostAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  const addresses = family === 0 ? await addressesOf(host, web) : [{ address: host, family }]
  const refused = addresses.find(({ address }) => !web.allows(address))
  if (refused) throw new Error(`${host} is not on the public internet${family === 0 ? ` (${refused.address})` : ''}: loopback, private and link-local addresses are refused. Use a command for a local server.`)
  return addresses
}

async function addressesOf(host: string, web: WebAccess): Promise<readonly HostAddress[]> {
  const addresses = await web.lookup(host).catch((error: unknown) => {
    throw new Error(`No such host: ${host}`, { cause: error })
  })
  if (addresses.length === 0) throw new Error(`No such host: ${host}`)
  return addresses
}
