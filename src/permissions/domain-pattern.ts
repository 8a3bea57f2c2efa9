/** `domain:example.com` or `domain:*.example.com`; undefined for a specifier that is neither. */
export function domainOf(specifier: string): string | undefined {
  const domain = /^domain:\s*((?:\*\.)?[^\s*/:@?#]+)$/.exec(specifier)?.[1]
  return domain === undefined ? undefined : hostOf(`http://${domain.replace(/^\*\./, '')}`) && domain.toLowerCase().replace(/\.$/, '')
}

/** Whether a URL's host is the domain itself; with `*.` any host below it, and not the domain. */
export function domainAllowed(specifier: string, url: string): boolean {
  const domain = domainOf(specifier)
  const host = hostOf(url)
  if (domain === undefined || host === undefined) return false
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain
}

/** For rules that forbid: the domain, every host below it, and any URL that cannot be read. */
export function domainTouched(specifier: string, url: string): boolean {
  const domain = domainOf(specifier)?.replace(/^\*\./, '')
  const host = hostOf(url)
  return domain === undefined || host === undefined || host === domain || host.endsWith(`.${domain}`)
}

/** The host as a request would use it: lower case, without port, user or final dot. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') || undefined : undefined
}
