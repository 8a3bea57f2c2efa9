/** An address a host name stands for, as DNS answers. */
export type HostAddress = { readonly address: string; readonly family: number }

/** What of the network a fetch may reach: every address is asked about after DNS, and the connection goes to that very address. */
export type WebAccess = {
  /** Rejects when there is no such host. */
  lookup(host: string): Promise<readonly HostAddress[]>
  allows(address: string): boolean
}
