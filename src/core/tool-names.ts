/**
 * The one table of tool names (GRA-03): ours, and what agent files written for Claude Code call them. Lists, rules and hook matchers all go
 * through it, and none of these names ever matches a foreign tool.
 */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  read: ['read'],
  ls: ['ls'],
  glob: ['glob'],
  grep: ['grep'],
  write: ['write'],
  edit: ['edit'],
  multiedit: ['edit'],
  bash: ['bash'],
  webfetch: ['web_fetch'],
  web_fetch: ['web_fetch'],
  todowrite: ['todo'],
  todo: ['todo'],
  memory: ['memory'],
  run_code: ['run_code'],
  blame: ['blame'],
  agent: ['agent'],
  task: ['agent'],
  sendmessage: ['agent_send'],
  agent_send: ['agent_send'],
  taskstop: ['agent_stop'],
  agent_stop: ['agent_stop'],
  taskoutput: ['agent_wait', 'agent_check'],
  agent_wait: ['agent_wait'],
  agent_check: ['agent_check'],
}

/** Every name an agent file may use for a tool of ours, as Claude Code spells it, for "did you mean". */
export const KNOWN_SPELLINGS: readonly string[] = [
  'Read', 'LS', 'Glob', 'Grep', 'Write', 'Edit', 'MultiEdit', 'Bash', 'WebFetch', 'TodoWrite', 'Agent', 'Task', 'SendMessage', 'TaskStop', 'TaskOutput',
  'memory', 'run_code', 'blame', 'agent_send', 'agent_stop', 'agent_wait', 'agent_check', 'web_fetch', 'todo',
]

/** Tools that only a type naming `Agent`, or a call naming them, hands to a child (GRA-10). */
export const DELEGATION_TOOLS: readonly string[] = ['agent', 'agent_send', 'agent_stop', 'agent_wait', 'agent_check']

/** An entry of a tool list: a name, and what stands in its brackets. */
export type ToolEntry = { readonly written: string; readonly name: string; readonly specifier: string | null }

/** Splits `Bash(npm test *)` into name and specifier; an entry without brackets, or with empty or `*` ones, has none. */
export function parseToolEntry(written: string): ToolEntry {
  const match = /^([^()]*)\((.*)\)$/s.exec(written.trim())
  const name = (match?.[1] ?? written).trim()
  const specifier = match?.[2]?.trim() ?? ''
  return { written: written.trim(), name, specifier: specifier === '' || specifier === '*' ? null : specifier }
}

/**
 * Our names for what an entry names, out of the tools there are. Empty when it names none of ours: then it is unknown, unless it is an MCP
 * pattern (`mcp__<server>`, `mcp__<server>__*`, `mcp__*`) or an exact foreign name among `available`.
 */
export function toolsNamed(name: string, available: Iterable<string>): readonly string[] {
  const lower = name.toLowerCase()
  if (lower === '*') return [...available]
  const ours = ALIASES[lower]
  if (ours && Object.hasOwn(ALIASES, lower)) return ours
  if (lower.startsWith('mcp__')) return [...available].filter((tool) => matchesMcp(lower, tool.toLowerCase()))
  return [...available].filter((tool) => tool.toLowerCase() === lower)
}

/** Whether a name is one this table or the MCP scheme knows, whether or not such a tool is available. */
export const isKnownTool = (name: string): boolean => name === '*' || Object.hasOwn(ALIASES, name.toLowerCase()) || name.toLowerCase().startsWith('mcp__')

function matchesMcp(pattern: string, tool: string): boolean {
  if (pattern.endsWith('*')) return tool.startsWith(pattern.slice(0, -1))
  return tool === pattern || tool.startsWith(`${pattern}__`)
}
