declare module '@joplin/turndown-plugin-gfm' {
  import type { Plugin } from 'turndown'

  /** Tables with a heading row as GitHub writes them. */
  export const tables: Plugin
}
