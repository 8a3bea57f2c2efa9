import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { WebAccess } from './web-access.ts'

/**
 * Whether an address is one of the public internet (TOO-09): not loopback, private, link-local (clouds answer there with keys), shared by carriers,
 * multicast, reserved or unspecified; and none of IPv6 that stands for an IPv4 address, but for a mapped one that is public itself.
 */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'unicast'
}

/** What every agent gets. */
export const publicWeb: WebAccess = {
  lookup: (host) => lookup(host, { all: true }),
  allows: isPublicAddress,
}
