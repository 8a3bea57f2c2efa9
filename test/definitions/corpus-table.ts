/**
 * What a file must come to. A field left out: null, for `mode` explore, for `findings` none. Findings are
 * `<line>: <severity>: <message>`.
 */
export type Expected = {
  readonly file: string
  readonly kind: 'type' | 'documentation' | 'skipped'
  readonly name?: string
  readonly description?: string
  readonly tools?: readonly string[]
  readonly model?: string
  readonly mode?: 'build'
  readonly findings?: readonly string[]
}

/** The verdict of lint on every file of `corpus/`, in order of path. */
export const CORPUS: readonly Expected[] = [
  {
    file: 'alias-bomb.md', kind: 'type', name: 'bomb', description: 'Aliases upon aliases.', findings: [
      '2: warning: unknown field "a"',
      '3: warning: unknown field "b"',
      '4: warning: unknown field "c"',
      '5: warning: unknown field "d"',
      '6: warning: unknown field "e"',
      '9: warning: field "tools" must be a comma string or a list of tool names',
      '10: warning: field "outputSchema" must be a map (a JSON Schema)',
    ],
  },
  {
    file: 'alias-to-nothing.md', kind: 'type', name: 'nothing', description: '*missing', model: 'sonnet',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'all-fields.md', kind: 'type', name: 'everything', description: 'Has every field there is.',
    tools: ['Read', 'Bash(npm test *)', 'Edit'], model: 'opus', mode: 'build', findings: [
      '10: note: MCP servers are checked, but not connected yet',
      '14: note: hooks are checked, but not run yet',
    ],
  },
  {
    file: 'anchor-map.md', kind: 'type', name: 'mapped-anchor', description: 'Maps and lists with anchors are no faults.',
    tools: ['Read'], findings: ['5: note: hooks are checked, but not run yet'],
  },
  { file: 'anchors.md', kind: 'type', name: 'anchored', description: 'anchored', tools: ['Read', 'Grep'] },
  {
    file: 'apostrophe.md', kind: 'type', name: 'apostrophe', description: 'It\'s for the wheel that won\'t turn: any size',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'at-sign.md', kind: 'type', name: 'at', description: '@mentions are its trade', model: 'sonnet',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'backtick.md', kind: 'type', name: 'tick', description: '`cadre` is its trade', model: 'sonnet',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  { file: 'blank-lines-first.md', kind: 'type', name: 'late-start', description: 'Blank lines stand before it.' },
  { file: 'blank.md', kind: 'documentation' },
  {
    file: 'block-folded.md', kind: 'type', name: 'folded', description: 'Use it for tyres of all sizes: small and large.',
    model: 'inherit',
  },
  {
    file: 'block-literal.md', kind: 'type', name: 'literal',
    description: 'Use it for tyres.\n\n<example>\nuser: "My tyre: flat"\n</example>',
  },
  {
    file: 'block-under-indented.md', kind: 'type', name: 'slack', description: 'First line\nsecond line: not indented',
    model: 'sonnet', findings: ['5: warning: "second line" is no field, so it is read as text'],
  },
  {
    file: 'bold-description.md', kind: 'type', name: 'bold', description: '**Important** use it first', model: 'sonnet',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'bom-crlf-broken.md', kind: 'type', name: 'bom-crlf', description: 'Use this when: lines end the Windows way.',
    model: 'haiku', findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  { file: 'bom.md', kind: 'type', name: 'bom', description: 'Begins with a byte order mark.' },
  {
    file: 'bracket-text.md', kind: 'type', name: 'bracket', description: '[Beta] Checks brackets', model: 'sonnet',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'case-values.md', kind: 'type', name: 'shouting', description: 'Values in the wrong case.', model: 'Sonnet', findings: [
      '5: warning: field "color" must be one of red, blue, green, yellow, purple, orange, pink, cyan',
      '6: warning: field "permissionMode" must be one of default, acceptEdits, auto, dontAsk, plan, '
        + 'bypassPermissions, manual, build, explore, danger',
    ],
  },
  {
    file: 'chinese.md', kind: 'type', name: '代码审查', description: '审查代码：找出错误与风险', tools: ['Read', 'Grep'],
    findings: ['2: note: name "代码审查" is accepted, but has more than a-z, 0-9 and "-"'],
  },
  {
    file: 'colon-comment.md', kind: 'type', name: 'no-comment', description: 'Use when: issue #12 comes up # truly', model: 'haiku',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'colon-escaped-newlines.md', kind: 'type', name: 'escaped',
    description: 'Use this agent when a bicycle needs care. Examples:\\n\\n<example>\\nContext: The user '
      + 'has a flat tyre.\\nuser: "My tyre is flat"\\nassistant: "I will use the tyre agent"\\n<commentary>A '
      + 'tyre: the agent\'s work.</commentary>\\n</example>',
    model: 'sonnet', findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'colon.md', kind: 'type', name: 'colons', description: 'Use this agent when: the brakes squeak.', tools: ['Read', 'Grep'],
    model: 'sonnet', findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'comment-cuts.md', kind: 'type', name: 'cut', description: 'Handles issue', tools: ['Read'],
    findings: ['3: note: YAML takes the end of "description", after " #", for a comment'],
  },
  { file: 'comments.md', kind: 'type', name: 'commented', description: 'Has comments between its fields.' },
  { file: 'crlf.md', kind: 'type', name: 'crlf', description: 'Lines end the Windows way.', tools: ['Read', 'Grep'] },
  {
    file: 'deep.md', kind: 'type', name: 'deep', description: 'Nested without end.', findings: [
      '4: warning: frontmatter is not valid YAML (line 4)',
      '4: warning: field "outputSchema" must be a map (a JSON Schema)',
    ],
  },
  {
    file: 'description-below.md', kind: 'type', name: 'below', description: 'Use this agent when: the text is on the next line',
    model: 'sonnet', findings: ['4: warning: "Use this agent when" is no field, so it is read as text'],
  },
  {
    file: 'description-map.md', kind: 'type', name: 'mapped', description: 'Use when: it is a map',
    findings: ['3: warning: "description: …" is no field, so it is read as text'],
  },
  {
    file: 'description-missing.md', kind: 'skipped',
    findings: ['2: warning: field "description" is missing, so this is no agent type'],
  },
  { file: 'dup/a.md', kind: 'type', name: 'same', description: 'The first by path.' },
  {
    file: 'dup/b.md', kind: 'type', name: 'same', description: 'The second by path.',
    findings: ['1: warning: type "same" is defined in dup/a.md and again in dup/b.md'],
  },
  {
    file: 'duplicate-keys.md', kind: 'type', name: 'twice', description: 'The first.', model: 'sonnet', findings: [
      '4: warning: frontmatter is not valid YAML (line 4)',
      '4: warning: field "description" is given twice',
    ],
  },
  { file: 'emoji-description.md', kind: 'type', name: 'cheerful', description: '🚲 Checks bicycles — “carefully”…' },
  { file: 'empty-frontmatter.md', kind: 'skipped', findings: ['2: warning: field "name" is missing, so this is no agent type'] },
  { file: 'empty.md', kind: 'documentation' },
  {
    file: 'examples-unindented.md', kind: 'type', name: 'spoken',
    description: 'Use this agent for repairs of all kinds.\n\nExamples:\n\n<example>\nContext: The user '
      + 'asks for a repair.\nuser: "Please repair it"\nmechanic: "At once"\nmodel: this line is speech\n</example>',
    model: 'opus', findings: ['7: warning: frontmatter is not valid YAML (line 7)'],
  },
  {
    file: 'flow-tools-broken.md', kind: 'type', name: 'flow-broken', description: 'Use when: tools are a flow list',
    tools: ['Read', 'Grep', 'Bash(git log, -1)'], mode: 'build', findings: [
      '3: warning: frontmatter is not valid YAML (line 3)',
    ],
  },
  { file: 'folder.md/inside.md', kind: 'type', name: 'inside', description: 'Its folder is called folder.md.' },
  {
    file: 'frontmatter-only.md', kind: 'type', name: 'only-head', description: 'Nothing below the frontmatter.',
    findings: ['4: note: the body is empty, so the agent has no role prompt'],
  },
  { file: 'indented-whole.md', kind: 'type', name: 'shifted', description: 'All fields are indented.' },
  {
    file: 'inner-quotes.md', kind: 'type', name: 'inner', description: 'Use it when someone says "help" or "fix it" aloud.',
    model: 'sonnet', findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'json-flow.md', kind: 'type', name: 'flow', description: 'Written as JSON inside the dashes',
    tools: ['Read', 'Bash(npm test, --x)'], mode: 'build',
  },
  { file: 'lang-coffee.md', kind: 'skipped', findings: ['1: error: frontmatter language "coffee" is not accepted'] },
  { file: 'lang-javascript.md', kind: 'skipped', findings: ['1: error: frontmatter language "javascript" is not accepted'] },
  { file: 'lang-js-unclosed.md', kind: 'skipped', findings: ['1: error: frontmatter language "js" is not accepted'] },
  { file: 'lang-js.md', kind: 'skipped', findings: ['1: error: frontmatter language "js" is not accepted'] },
  { file: 'lang-json.md', kind: 'skipped', findings: ['1: error: frontmatter language "json" is not accepted'] },
  { file: 'lang-proto.md', kind: 'skipped', findings: ['1: error: frontmatter language "__proto__" is not accepted'] },
  { file: 'lang-toml.md', kind: 'skipped', findings: ['1: error: frontmatter language "toml" is not accepted'] },
  { file: 'lang-yaml.md', kind: 'type', name: 'yaml-named', description: 'Names its language.' },
  { file: 'latin1.md', kind: 'skipped', findings: ['1: error: the file is not UTF-8'] },
  {
    file: 'leading-quote.md', kind: 'type', name: 'leading', description: '"Fix" and "mend" are its words',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'list-after-broken.md', kind: 'type', name: 'mixed', description: 'Use when: a list follows',
    tools: ['Read', 'Bash(npm test, --x)'], mode: 'build', findings: [
      '3: warning: frontmatter is not valid YAML (line 3)',
      '7: note: hooks are checked, but not run yet',
    ],
  },
  {
    file: 'mode-synonym.md', kind: 'type', name: 'synonym', description: 'A permission mode by its other name.',
  },
  {
    file: 'model-copilot.md', kind: 'type', name: 'copilot', description: 'A model by its brand.',
    model: 'Claude Sonnet 4 (copilot)', findings: ['4: warning: model "Claude Sonnet 4 (copilot)" is no model id'],
  },
  { file: 'model-dated.md', kind: 'type', name: 'dated', description: 'A dated model id.', model: 'claude-sonnet-4-5-20250929' },
  { file: 'multiline-plain.md', kind: 'type', name: 'wrapped', description: 'Goes on on indented lines to the end.', model: 'sonnet' },
  { file: 'name-256.md', kind: 'type', name: 'b'.repeat(256), description: '256 characters are the most.' },
  {
    file: 'name-boolean.md', kind: 'type', name: 'true', description: 'Its name is a boolean.',
    findings: ['2: note: field "name" is a bare boolean, taken as text'],
  },
  {
    file: 'name-capitals.md', kind: 'type', name: 'CodeReviewer', description: 'Capitals.',
    findings: ['2: note: name "CodeReviewer" is accepted, but has more than a-z, 0-9 and "-"'],
  },
  {
    file: 'name-case-key.md', kind: 'skipped', findings: [
      '2: warning: unknown field "Name", did you mean "name"?',
      '2: warning: field "name" is missing, so this is no agent type',
    ],
  },
  { file: 'name-colon.md', kind: 'skipped', findings: ['2: error: name "team:reviewer" cannot be used'] },
  { file: 'name-control.md', kind: 'skipped', findings: ['2: error: name "bell\\u0007" cannot be used'] },
  { file: 'name-dash.md', kind: 'skipped', findings: ['2: error: name "-lead" cannot be used'] },
  { file: 'name-dots.md', kind: 'skipped', findings: ['2: error: name ".." cannot be used'] },
  {
    file: 'name-dotted.md', kind: 'type', name: 'team.reviewer_v2', description: 'Dots and underscores.',
    findings: ['2: note: name "team.reviewer_v2" is accepted, but has more than a-z, 0-9 and "-"'],
  },
  { file: 'name-empty.md', kind: 'skipped', findings: ['2: warning: field "name" is missing, so this is no agent type'] },
  { file: 'name-long.md', kind: 'skipped', findings: [`2: error: name "${'a'.repeat(60)}…" cannot be used`] },
  {
    file: 'name-missing.md', kind: 'skipped', findings: [
      '2: warning: unknown field "title", did you mean "tools"?',
      '2: warning: field "name" is missing, so this is no agent type',
    ],
  },
  {
    file: 'name-number.md', kind: 'type', name: '007', description: '42', findings: [
      '2: note: field "name" is a bare number, taken as text',
      '3: note: field "description" is a bare number, taken as text',
    ],
  },
  { file: 'name-path.md', kind: 'skipped', findings: ['2: error: name "../../etc/passwd" cannot be used'] },
  { file: 'name-space.md', kind: 'skipped', findings: ['2: error: name "Code Reviewer" cannot be used'] },
  {
    file: 'nested-duplicate.md', kind: 'type', name: 'nested-twice', description: 'A key twice inside a map.', findings: [
      '4: warning: field "outputSchema" must be a map (a JSON Schema)',
      '6: warning: frontmatter is not valid YAML (line 6)',
    ],
  },
  { file: 'no-newline-at-end.md', kind: 'type', name: 'no-newline', description: 'The file ends without a line break.' },
  {
    file: 'no-space.md', kind: 'type', name: 'tight', description: 'No space after the colon.', tools: ['Read'],
    findings: ['2: warning: frontmatter is not valid YAML (line 2)'],
  },
  { file: 'not-yaml-no-name.md', kind: 'skipped', findings: ['2: error: frontmatter cannot be read (line 2)'] },
  { file: 'nul.md', kind: 'type', name: 'nul', description: 'A NUL in the body.' },
  {
    file: 'percent.md', kind: 'type', name: 'percent', description: '%done is what it counts',
    findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  {
    file: 'plain.md', kind: 'type', name: 'chain-checker', description: 'Checks chains for wear.', tools: ['Read', 'Grep', 'Glob'],
    model: 'sonnet',
  },
  {
    file: 'proto.md', kind: 'type', name: 'proto', description: 'Tries prototypes.', findings: [
      '2: warning: unknown field "__proto__"',
      '3: warning: unknown field "constructor"',
    ],
  },
  { file: 'quoted-escapes.md', kind: 'type', name: 'escapes', description: 'Use it when:\n\n<example>user: "hi"</example>' },
  { file: 'quoted-hash.md', kind: 'type', name: 'hashes', description: 'Fixes issue #12, and #13: both' },
  { file: 'readme.md', kind: 'documentation' },
  { file: 'rule-first.md', kind: 'documentation' },
  { file: 'rule-only.md', kind: 'documentation' },
  { file: 'rule-prose.md', kind: 'skipped', findings: ['2: warning: field "name" is missing, so this is no agent type'] },
  { file: 'rules-in-body.md', kind: 'type', name: 'ruled', description: 'Its body has rules.' },
  { file: 'script-blank.md', kind: 'skipped', findings: ['4: error: `model: script` needs a ```js block in the body, and there is none'] },
  {
    file: 'script-broken.md', kind: 'type', name: 'typo', description: 'Its program does not compile.', model: 'script',
    findings: ['9: error: the program does not compile: Unexpected token \'}\''],
  },
  { file: 'script-javascript.md', kind: 'type', name: 'counter-two', description: 'Says javascript.', model: 'script' },
  { file: 'script-none.md', kind: 'skipped', findings: ['4: error: `model: script` needs a ```js block in the body, and there is none'] },
  { file: 'script.md', kind: 'type', name: 'counter', description: 'Counts lines.', tools: ['read'], model: 'script' },
  { file: 'single-quotes.md', kind: 'type', name: 'singles', description: 'It\'s for wheels: all of them' },
  {
    file: 'stringly.md', kind: 'type', name: 'stringly', description: 'Booleans and numbers as text.',
  },
  {
    file: 'tab-indent.md', kind: 'type', name: 'tabs', description: 'Lists its tools with tabs.', tools: ['Read', 'Grep'],
    findings: ['5: warning: frontmatter is not valid YAML (line 5)'],
  },
  { file: 'tab-separator.md', kind: 'type', name: 'tabbed', description: 'A tab stands after the colon.' },
  {
    file: 'tab-whole.md', kind: 'type', name: 'tab-shifted', description: 'All lines begin with a tab.', tools: ['Read'],
    findings: ['2: warning: frontmatter is not valid YAML (line 2)'],
  },
  {
    file: 'tools-brackets.md', kind: 'type', name: 'bracketed', description: 'Commas inside brackets.',
    tools: ['Read', 'Bash(npm test, --x)', 'Agent(a, b)', 'Agent(c)'], mode: 'build',
  },
  { file: 'tools-build.md', kind: 'type', name: 'builder', description: 'Names MultiEdit.', tools: ['Read', 'MultiEdit'], mode: 'build' },
  {
    file: 'tools-empty.md', kind: 'type', name: 'toolless', description: 'Its tools are left empty.',
    findings: ['4: note: field "tools" is empty, which is the same as leaving it out'],
  },
  {
    file: 'tools-flow-brackets.md', kind: 'type', name: 'flow-brackets', description: 'Commas inside brackets of a flow list.',
    tools: ['Read', 'Bash(npm test, --x)', 'Agent(a, b)'], mode: 'build',
  },
  {
    file: 'tools-foreign.md', kind: 'type', name: 'foreign', description: 'Tools of another editor.',
    tools: ['search/codebase', 'mcp__github__list', 'edit/editFiles', 'Raed'], model: 'Claude Sonnet 4.5', findings: [
      '4: warning: unknown tool "search/codebase"',
      '4: warning: unknown tool "edit/editFiles"',
      '4: warning: unknown tool "Raed", did you mean "Read"?',
      '5: warning: model "Claude Sonnet 4.5" is no model id',
    ],
  },
  { file: 'tools-none.md', kind: 'type', name: 'none', description: 'Wants no tool.', tools: [] },
  {
    file: 'tools-star.md', kind: 'type', name: 'star', description: 'May use everything.', tools: ['*'],
    findings: ['4: warning: frontmatter is not valid YAML (line 4)'],
  },
  { file: 'trailing-spaces.md', kind: 'type', name: 'trailing', description: 'Spaces after everything.' },
  {
    file: 'two-documents.md', kind: 'type', name: 'first', description: 'One.\n...\nname: second',
    findings: ['5: warning: frontmatter is not valid YAML (line 5)'],
  },
  {
    file: 'unclosed-quote.md', kind: 'type', name: 'unclosed', description: '"Begins with a quote and never ends it',
    model: 'sonnet', findings: ['3: warning: frontmatter is not valid YAML (line 3)'],
  },
  { file: 'unclosed.md', kind: 'skipped', findings: ['1: error: frontmatter cannot be read (line 1)'] },
  {
    file: 'unindented-continuation.md', kind: 'type', name: 'flush',
    description: 'Use this agent\nwhen a wheel wobbles: it trues it', tools: ['Read'], model: 'sonnet',
    findings: ['4: warning: "when a wheel wobbles" is no field, so it is read as text'],
  },
  {
    file: 'unknown-fields.md', kind: 'type', name: 'unknown', description: 'Has fields of other tools.', findings: [
      '4: warning: unknown field "version", did you mean "description"?',
      '5: warning: unknown field "allowed-tools", did you mean "tools"?',
      '6: warning: unknown field "max_turns", did you mean "maxTurns"?',
      '7: warning: unknown field "argument-hint"',
      '8: warning: unknown field "handoffs"',
    ],
  },
  { file: 'utf16.md', kind: 'skipped', findings: ['1: error: the file is UTF-16'] },
  {
    file: 'wrong-values.md', kind: 'type', name: 'wrong', description: 'Every value is wrong.', findings: [
      '4: warning: field "maxTurns" must be an integer of at least 1',
      '5: warning: field "color" must be one of red, blue, green, yellow, purple, orange, pink, cyan',
      '6: warning: field "memory" must be one of user, project, local',
      '7: warning: field "effort" must be one of low, medium, high, xhigh, max or an integer',
      '8: warning: field "isolation" must be "worktree"',
      '9: warning: field "permissionMode" must be one of default, acceptEdits, auto, dontAsk, plan, '
        + 'bypassPermissions, manual, build, explore, danger',
      '10: warning: field "background" must be true or false',
      '11: warning: field "timeout" must be a number of seconds above 0',
      '12: warning: field "outputSchema" must be a map (a JSON Schema)',
      '13: warning: field "hooks" must be a map of events to lists of {matcher, hooks: [{type, command}]}',
      '14: warning: field "mcpServers" must be a list of server names, or a map of names to servers',
      '15: warning: field "tools" must be a comma string or a list of tool names',
      '17: warning: field "experimental.cacheTtl" must be one of 5m, 1h',
      '17: warning: unknown field "experimental.warp", did you mean "experimental.cacheTtl"?',
    ],
  },
  {
    file: 'yaml-11.md', kind: 'type', name: 'yes', description: '012', findings: [
      '3: note: field "description" is a bare number, taken as text',
      '4: warning: field "timeout" must be a number of seconds above 0',
    ],
  },
  {
    file: 'yaml-tags.md', kind: 'type', name: 'tagged', description: 'function () { globalThis.pwned = true }',
    findings: ['4: warning: field "tools" must be a comma string or a list of tool names'],
  },
]
