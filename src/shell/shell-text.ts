/** How a process ended. */
export type Exit = { readonly kind: 'exit'; readonly code: number } | { readonly kind: 'signal'; readonly signal: string }

/** How a command ended. */
export type Ending = Exit | { readonly kind: 'timeout'; readonly timeoutMs: number }

/** What came of a command: stdout and stderr as they were written, the middle of a long text left out. */
export type ShellEnd = { readonly text: string; readonly ending: Ending }

/** What a model reads of it (TOO-08): the text, and in a last line how it ended. */
export const shellText = ({ text, ending }: ShellEnd): string => `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${describe(ending)}]`

function describe(ending: Ending): string {
  switch (ending.kind) {
    case 'exit': return `exit ${ending.code}`
    case 'signal': return `ended by ${ending.signal}`
    case 'timeout': return `timed out after ${ending.timeoutMs / 1000} s`
  }
}
