import type { Program } from '../core/agent-type.ts'

/**
 * The first ```` ```js ```` (or ```` ```javascript ````) block of a Markdown text (PRG-01), null when there is none or it is blank. Blocks
 * inside other fences, such as an example in ```` ````md ````, do not count. `firstLine` is the line of the file the text starts at.
 */
export function firstProgram(markdown: string, firstLine: number): Program | null {
  const lines = markdown.split('\n')
  let open: { readonly mark: string; readonly program: boolean; readonly at: number } | null = null
  for (const [i, line] of lines.entries()) {
    const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)([^`]*)$/.exec(line)
    if (open === null) {
      const mark = fence?.[1]
      if (mark !== undefined) open = { mark, program: mark.startsWith('`') && /^(js|javascript)$/i.test(fence?.[2] ?? ''), at: i }
    } else if (fence && closes(open.mark, fence)) {
      const code = lines.slice(open.at + 1, i).join('\n')
      if (open.program && code.trim() !== '') return { code, line: firstLine + open.at + 1 }
      open = null
    }
  }
  return null
}

const closes = (mark: string, fence: RegExpExecArray): boolean =>
  (fence[1]?.startsWith(mark) ?? false) && fence[2] === '' && fence[3]?.trim() === ''
