import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { agent, cliPlace, MAIN } from './place.ts'

const MINE = 'project/.cadre/agents'
const ESCAPE = '\u001b'

describe('CMD-07: cadre agents list', () => {
  const files = {
    [`${MINE}/one.md`]: agent('one', 'model: haiku\n'),
    'project/.claude/agents/one.md': agent('one'),
    [`${MINE}/two.md`]: agent('two', 'tools: Edit\nreadOnly: true\n'),
    [`${MINE}/bad.md`]: '---js\nname: bad\n---\n',
    [`${MINE}/README.md`]: 'How we write agents.\n',
    'user/.claude/agents/three.md': agent('three'),
  }

  test('it prints type, file, model, mode, shadowed and skipped files, scope order and switches', async () => {
    const { stdout, stderr, code } = await cliPlace(files).cadre(['agents', 'list'])
    expect(code).toBe(0)
    for (const row of [
      /^one +explore +haiku +project +\.cadre\/agents\/one\.md$/m,
      /^two +read-only +inherit +project +\.cadre\/agents\/two\.md$/m,
      /^three +explore +inherit +user-claude +~\/\.claude\/agents\/three\.md$/m,
      /^explorer +explore +inherit +built-in +\S+\/agents\/explorer\.md$/m,
      /^one +\.claude\/agents\/one\.md +\.cadre\/agents\/one\.md$/m,
      /^\.cadre\/agents\/bad\.md:1 +frontmatter language "js" is not accepted$/m,
      /^CADRE_HOME +cadre$/m,
      /^CADRE_CLAUDE_AGENTS +not set: on$/m,
    ]) expect(stdout).toMatch(row)
    const order = stdout.slice(stdout.indexOf('SCOPE, HIGHEST FIRST')).split('\n').slice(1, 8).map((line) => line.split(/ {2,}/))
    expect(order.map(([scope]) => scope)).toEqual(['managed', 'code', 'project', 'project', 'user', 'user-claude', 'built-in'])
    expect(order.map(([, used]) => used).slice(1, 6)).toEqual(['–', '2 types', '0 types', '–', '1 type'])
    expect(stdout).not.toContain('README')
    expect(stdout).not.toContain(ESCAPE)
    expect(stderr).toContain('project/.cadre/agents/bad.md:1: error: frontmatter language "js" is not accepted; use YAML\n')
  })

  test('SCO-04: with CADRE_CLAUDE_AGENTS=0 no .claude folder counts, and the list says so', async () => {
    const listed = await cliPlace(files).json(['agents', 'list'], { env: { CADRE_CLAUDE_AGENTS: '0' } })
    expect(listed).toMatchObject({ shadowed: [], environment: { CADRE_CLAUDE_AGENTS: '0' } })
    expect(JSON.stringify(listed)).not.toMatch(/\.claude|three/)
  })

  test('TYP-21: --json holds the same, whole', async () => {
    const listed = await cliPlace(files).json(['agents', 'list'])
    expect(listed).toMatchObject({
      types: expect.arrayContaining([
        expect.objectContaining({
          name: 'two', mode: 'build', readOnly: true, scope: 'project', hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        }),
      ]),
      shadowed: [
        { name: 'one', path: expect.stringContaining('.claude/agents/one.md'), by: expect.stringContaining('.cadre/agents/one.md') },
      ],
      skipped: [{ path: expect.stringContaining('bad.md'), reason: { line: 1, severity: 'error' } }],
      environment: { CADRE_CLAUDE_AGENTS: null },
    })
  })

  test('on a terminal rows fit it, in colour, and findings about files are counted', async () => {
    const command = `stty cols 60 rows 60; exec ${process.execPath} ${MAIN} agents list`
    const { stdout, stderr } = await cliPlace(files).run('script', ['-qec', command, '/dev/null'])
    expect(stderr).toBe('')
    expect(stdout).toContain(`${ESCAPE}[1mone`)
    const lines = stripVTControlCharacters(stdout).replaceAll('\r\n', '\n').split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBe(60)
    expect(lines.at(-2)).toBe('1 finding in agent files: see cadre agents lint')
  })
})

describe('CMD-07: cadre agents show', () => {
  test('it prints every field a type has and its prompt, and nothing of a stranger\'s text moves the cursor', async () => {
    const place = cliPlace({
      [`${MINE}/a.md`]: agent('a-type', 'color: red\nmaxTurns: 4\ndisallowedTools: Bash\n', `First ${ESCAPE}[2Jline.\n\n  Second.`),
      [`${MINE}/other.md`]: agent('other', 'colour: red\n'),
    })
    const { stdout, stderr, code } = await place.cadre(['agents', 'show', 'A_Type'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^a-type\n {2}description +does a-type\n {2}file +\.cadre\/agents\/a\.md\n/)
    for (const field of [
      /^ {2}without +Bash$/m, /^ {2}maxTurns +4$/m, /^ {2}color +red$/m, /^ {2}scope +project, not trusted$/m,
    ]) expect(stdout).toMatch(field)
    expect(stdout).toMatch(/\nFirst line\.\n\n {2}Second\.\n$/)
    expect(stderr).toBe('')
    expect(await place.json(['agents', 'show', 'a-type'])).toMatchObject({
      name: 'a-type', maxTurns: 4, disallowedTools: ['Bash'], prompt: expect.stringContaining('Second.'),
    })
  })

  test('TYP-16: an unknown name gets the list and the nearest one, and exits with 2', async () => {
    const { stdout, stderr, code } = await cliPlace().cadre(['agents', 'show', 'reviewr'])
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 })
    expect(stderr).toMatch(/^cadre: Unknown sub-agent type "reviewr"\. Available: .*explorer.* Did you mean reviewer\?\n$/)
  })
})

describe('CMD-07: cadre agents lint', () => {
  const files = {
    [`${MINE}/README.md`]: 'Only words.\n',
    [`${MINE}/colon.md`]: '---\nname: colon\ndescription: use it: often\n---\nDo it.\n',
    [`${MINE}/deep/js.md`]: '---js\nname: x\n---\n',
    [`${MINE}/fine.md`]: agent('fine'),
    [`${MINE}/later.md`]: agent('later', 'hooks:\n  Stop: []\n'),
    'user/.claude/agents/mine.md': '---\nname: mine\ndescription: a: b\n---\n',
  }

  test('every file has its verdict, findings are in TYP-19\'s form, and an error makes the exit code 1', async () => {
    const { stdout, stderr, code } = await cliPlace(files).cadre(['agents', 'lint'])
    expect({ stderr, code }).toEqual({ stderr: '', code: 1 })
    expect(stdout).toMatch(/^· \.cadre\/agents\/README\.md {2}documentation$/m)
    expect(stdout).toContain(`
! .cadre/agents/colon.md  colon
    .cadre/agents/colon.md:3: warning: frontmatter is not valid YAML (line 3); read line by line
✗ .cadre/agents/deep/js.md  skipped
    .cadre/agents/deep/js.md:1: error: frontmatter language "js" is not accepted; use YAML
`)
    expect(stdout).toMatch(/^✓ \.cadre\/agents\/fine\.md {2}fine$/m)
    expect(stdout).toMatch(/^! \.cadre\/agents\/later\.md {2}later\n {4}\.cadre\/agents\/later\.md:4: warning: hooks ignored: project is not trusted/m)
    expect(stdout).toMatch(/^! ~\/\.claude\/agents\/mine\.md {2}mine$/m)
    expect(stdout).toMatch(/\n\n6 files: 4 types, 1 skipped, 1 documentation; 1 error, 3 warnings, 1 note\n$/)
  })

  test('--fix mends what it can in the project\'s files, leaves the user\'s own alone, and changes nothing the second time', async () => {
    const place = cliPlace(files)
    const first = await place.cadre(['agents', 'lint', '--fix'])
    expect(first.stdout).toMatch(/^✓ \.cadre\/agents\/colon\.md {2}colon {2}fixed$/m)
    expect(first.stdout).toMatch(/; 1 fixed\n$/)
    const text = () => readFileSync(join(place.root, '.cadre/agents/colon.md'), 'utf8')
    const fixed = text()
    expect(fixed).toBe('---\nname: colon\ndescription: "use it: often"\n---\nDo it.\n')
    expect(readFileSync(join(place.folder, 'user/.claude/agents/mine.md'), 'utf8')).toBe(files['user/.claude/agents/mine.md'])
    expect((await place.cadre(['agents', 'lint', '--fix'])).stdout).not.toContain('fixed')
    expect(text()).toBe(fixed)
  })

  test('a path is one file or a folder anywhere; warnings alone exit with 0; one that is missing exits with 2', async () => {
    const place = cliPlace(files)
    const one = await place.cadre(['agents', 'lint', '.cadre/agents/colon.md', '--json'])
    expect(one.code).toBe(0)
    expect(JSON.parse(one.stdout)).toMatchObject([{ verdict: 'type', name: 'colon', fixed: false, diagnostics: [{ line: 3, severity: 'warning' }] }])
    expect(await place.cadre(['agents', 'lint', 'agents'], { cwd: join(place.root, '.cadre') })).toMatchObject({
      code: 1, stdout: expect.stringContaining('✓ agents/fine.md'),
    })
    expect(await place.cadre(['agents', 'lint', 'missing'])).toMatchObject({
      code: 2, stdout: '', stderr: expect.stringMatching(/^cadre: Nothing to lint at project\/missing\./),
    })
  })

  test('with nothing to lint it says where agent files go', async () => {
    expect(await cliPlace().cadre(['agents', 'lint'])).toMatchObject({
      code: 2, stderr: expect.stringContaining('put agent files into .cadre/agents'),
    })
  })
})

describe('CMD-07: cadre agents explain', () => {
  const files = {
    [`${MINE}/picky.md`]: agent(
      'picky',
      'tools: Read, Grep, Agent(explorer), Bash(npm test *), Wat\ndisallowedTools: Grep\ncolr: red\nmemory: project\nhooks:\n  Stop: []\n',
    ),
  }

  test('GRA-12: it prints the effective grant, the layer that removed each tool, what is absent, dropped and deferred', async () => {
    const { stdout, stderr, code } = await cliPlace(files).cadre(['agents', 'explain', 'picky'])
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    for (const line of [
      /^✓ {2}read +read$/m,
      /^✓ {2}agent +delegate$/m,
      /^✗ {2}grep +removed by disallowedTools of picky$/m,
      /^✗ {2}glob +removed by tools of picky$/m,
      /^✓ {2}bash +execute, only Bash\(npm test \*\)|^✓ {2}bash +execute/m,
      /^\? {2}Wat +no such tool here$/m,
      /^ {2}line 6 +warning: unknown field "colr", did you mean "color"\?/m,
      /^ {2}line 8 +warning: hooks ignored: project is not trusted; run "cadre trust"$/m,
      /^ {2}delegates +1 level below it$/m,
    ]) expect(stdout).toMatch(line)
  })

  test('it prints the price of a start: prompt and tool schemas in bytes, and about how many tokens', async () => {
    const place = cliPlace(files)
    const { stdout } = await place.cadre(['agents', 'explain', 'explorer'])
    const line = /per start +about ([\d,]+) tokens, ([\d,]+) bytes \(prompt ([\d,]+), tool schemas ([\d,]+)\)/
    const [, tokens, bytes, prompt, schemas] = (line.exec(stdout) ?? []).map((figure) => Number(figure.replaceAll(',', '')))
    expect(bytes).toBe((prompt ?? 0) + (schemas ?? 0))
    expect(tokens).toBe(Math.ceil((bytes ?? 0) / 4))
    expect(prompt).toBeGreaterThan(500)
    expect(schemas).toBeGreaterThan(300)
    expect(await place.json(['agents', 'explain', 'explorer'])).toMatchObject({
      prompt: {
        tokens, bytes, systemBytes: prompt, toolBytes: schemas,
        systemParts: [{ part: 'base rules' }, { part: 'role' }],
      },
      readOnly: true,
      grant: { tools: [{ name: 'read' }, { name: 'ls' }, { name: 'glob' }, { name: 'grep' }] },
      removed: expect.arrayContaining([{ tool: 'agent', layer: 'tools of explorer' }]),
    })
  })

  test('PRO-01: it prints what each part costs, in the order of the prompt; together they are its whole size', async () => {
    const place = cliPlace({
      [`${MINE}/lead.md`]: agent('lead', 'tools: Read, Agent(explorer)\nskills: tidy\n', 'Lead.'),
      'project/AGENTS.md': 'Be kind.\n',
      'project/.cadre/skills/tidy/SKILL.md': 'Tidy up.\n',
    })
    const { stdout } = await place.cadre(['agents', 'explain', 'lead'])
    const table = stdout.slice(stdout.indexOf('PART')).split('\n').map((line) => line.split(/ {2,}/))
    expect(table.slice(0, 7).map(([part]) => part)).toEqual(['PART', 'base rules', 'role', 'instructions', 'skills', 'types', 'tool schemas'])
    const { prompt } = await place.json(['agents', 'explain', 'lead']) as { prompt: { systemBytes: number; toolBytes: number; systemParts: { part: string; bytes: number }[] } }
    expect(prompt.systemParts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(prompt.systemBytes)
    expect([...prompt.systemParts.map(({ bytes }) => bytes), prompt.toolBytes]).toEqual(table.slice(1, 7).map(([, bytes]) => Number(bytes?.replaceAll(',', ''))))
    expect(prompt.systemParts.find(({ part }) => part === 'instructions')).toEqual({ part: 'instructions', bytes: Buffer.byteLength('\n\n# Project instructions: AGENTS.md\nBe kind.') })
  })

  test('PRO-04: a skill that is nowhere is told, and the rest is explained', async () => {
    const place = cliPlace({ [`${MINE}/lead.md`]: agent('lead', 'skills: gone\n') })
    const { stdout, code } = await place.cadre(['agents', 'explain', 'lead'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/warning: the skill "gone" is in no skills folder; write \.cadre\/skills\/gone\/SKILL\.md/)
  })

  test('it names the model it would run on, or what to set', async () => {
    const place = cliPlace(files)
    expect(
      (await place.cadre(['agents', 'explain', 'explorer'], { env: { CADRE_MODEL: 'ollama/some-model' } })).stdout,
    ).toMatch(/^ {2}model +ollama\/some-model \(inherit\)$/m)
    const { stdout } = await place.cadre(['agents', 'explain', 'explorer'])
    expect(stdout).toMatch(/^ {2}model +none\n +No model is set\. Use --model/m)
    expect((await place.cadre(['agents', 'explain', 'todo-audit'])).stdout).toMatch(/^ {2}model +script$/m)
  })
})

test('CMD-03: an unknown sub-command names the nearest one and exits with 2', async () => {
  expect(await cliPlace().cadre(['agents', 'lst'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Did you mean list?') })
})
