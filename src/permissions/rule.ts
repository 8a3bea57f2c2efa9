/**
 * One line of an `allow`, `ask` or `deny` list, as plain data (PRM-03). `tool` as written, of either table of names; `specifier` null: every
 * call of the tool. `origin`: the file it stands in, or the place in code, for messages.
 */
export type Rule = { readonly written: string; readonly tool: string; readonly specifier: string | null; readonly origin: string }

export type RuleList = 'allow' | 'ask' | 'deny'

/** Every rule in force. The lists of all layers add up: deny beats ask beats allow, in any layer. */
export type Rules = Readonly<Record<RuleList, readonly Rule[]>>

export const NO_RULES: Rules = { allow: [], ask: [], deny: [] }

export const joinRules = (...all: readonly Rules[]): Rules => ({
  allow: all.flatMap(({ allow }) => allow),
  ask: all.flatMap(({ ask }) => ask),
  deny: all.flatMap(({ deny }) => deny),
})

/** What rules of an untrusted project count for: they may only take away (SET-01). */
export const onlyForbidding = (rules: Rules): Rules => ({ ...rules, allow: [] })
