/** The entry of a process that turns one page into Markdown: HTML in, Markdown out. Started and watched by `src/tools/page-markdown.ts`. */
import { text } from 'node:stream/consumers'
import { Script } from 'node:vm'
import { tables } from '@joplin/turndown-plugin-gfm'
import TurndownService from 'turndown'

const [, , base = 'about:blank', limitMs = '10000'] = process.argv

/** What shows nothing a reader wants, or only in a browser. */
const LEFT_OUT = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'canvas', 'link', 'meta', 'button', 'select', 'textarea'] as const

/** What is used of a DOM node: Node has no DOM, so turndown's own types say nothing here. */
type Element = { readonly nodeName: string; getAttribute(name: string): string | null }

function toMarkdown(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.use(tables)
  service.remove([...LEFT_OUT])
  service.remove((node: Element) => node.nodeName.toLowerCase() === 'svg')
  service.addRule('link', { filter: 'a', replacement: (content, node: Element) => linkTo(node.getAttribute('href'), content) })
  service.addRule('image', { filter: 'img', replacement: (_, node: Element) => node.getAttribute('alt') ?? '' })
  return service.turndown(html)
}

/** A link with its whole address; only its words where it leads nowhere that can be fetched. */
function linkTo(href: string | null, content: string): string {
  const target = href !== null && URL.canParse(href, base) ? new URL(href, base) : null
  return content.trim() !== '' && target !== null && /^(?:https?|mailto):$/.test(target.protocol) ? `[${content.trim()}](${target.href})` : content
}

// The limit holds inside too: a process whose host was killed ends on its own.
const html = await text(process.stdin)
Object.assign(globalThis, { convert: () => toMarkdown(html) })
const markdown = new Script('convert()').runInThisContext({ timeout: Number(limitMs) }) as string
process.stdout.write(markdown)
