import type { ToolUse } from './tool-use.ts'

const SEARCHES: readonly string[] = ['ls', 'glob', 'grep']

/** Whether a call looks at what lies below the folder it names. */
export const isSearch = ({ tool, foreign = false }: ToolUse): boolean => !foreign && SEARCHES.includes(tool)
