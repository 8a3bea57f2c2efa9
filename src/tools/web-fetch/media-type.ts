import { MIMEType } from 'node:util'

/** What is done with an answer of a type. */
export type Media = { readonly kind: 'html' | 'text' | 'binary'; readonly essence: string; readonly charset: string | null }

const HTML: readonly string[] = ['text/html', 'application/xhtml+xml']
const TEXTUAL = /^text\/|^application\/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-sh|graphql|sql|x-ndjson|x-httpd-php)$|\+(?:json|xml|yaml)$/

/** Reads a `content-type`; without one, or with one that cannot be read, the content is taken for text until its bytes say otherwise. */
export function mediaType(header: string | undefined): Media {
  const type = parsed(header)
  if (type === null) return { kind: 'text', essence: 'of no stated type', charset: null }
  const { essence } = type
  const kind = HTML.includes(essence) ? 'html' : TEXTUAL.test(essence) && essence !== 'image/svg+xml' ? 'text' : 'binary'
  return { kind, essence, charset: type.params.get('charset') }
}

function parsed(header: string | undefined): MIMEType | null {
  try {
    return header === undefined ? null : new MIMEType(header)
  } catch {
    return null // a server's mistake is no reason to read nothing
  }
}
