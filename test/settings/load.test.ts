import { mkdirSync, symlinkSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadSettings } from '../../src/settings/load.ts'
import { linesOf, settingsPlace } from './place.ts'
import type { Layer } from './place.ts'

describe('SET-01: which layer wins', () => {
  /** Highest first, each with how it sets the number of sub-agents that run at once. */
  const LAYERS = ['managed', 'code', 'environment', 'local', 'project', 'user'] as const

  for (const [rank, highest] of LAYERS.entries()) {
    test(`${highest} wins over every layer below it`, () => {
      using place = settingsPlace()
      const set = LAYERS.slice(rank)
      for (const layer of set) if (layer !== 'code' && layer !== 'environment') place.write(layer, {
        limits: { maxRunning: 100 + LAYERS.indexOf(layer) },
      })
      const { settings, diagnostics } = place.load({
        trustedInCode: true,
        ...(set.includes('code') && { code: { limits: { maxRunning: 101 } } }),
        env: set.includes('environment') ? { CADRE_MAX_RUNNING: '102' } : {},
      })
      expect(settings.limits.maxRunning).toBe(100 + rank)
      expect(diagnostics).toEqual([])
    })
  }

  test('with no file and no variable the defaults of SPEC section 21 hold', () => {
    using place = settingsPlace()
    const { settings, trusted, diagnostics } = place.load()
    expect(settings).toEqual({
      model: null, subagentModel: null, modelAliases: {}, allowedModels: [], prices: {}, providers: {},
      models: { maxTries: 6, silence: 120, cacheTtl: '5m' },
      limits: {
        maxDepth: 2, maxRunning: 16, maxBackground: 20, maxQueued: 1_000, launchPerSecond: 20, maxTurns: 50, timeout: 3_600, resultChars: 24_000,
        schemaRetries: 3, wait: 600, gateWait: 120,
      },
      delivery: { onIdle: null, maxNudges: 3, coalesce: 0.25 },
      tasks: { notify: true },
      delegation: { tools: 'agent' },
      permissions: { mode: 'default', allow: [], ask: [], deny: [] },
      approvals: null,
      approvalTimeout: 1_800,
      bash: { timeout: 120 },
      worktrees: { merge: 'keep', carryDirty: false },
      sandbox: 'auto',
      shell: { env: [] },
      verify: { command: null, threshold: 3, maxAttempts: 2, maxTurns: 15 },
      instructions: true,
      compactAt: 0.8,
      programs: { heapMb: 128, slice: 10 },
      claudeAgents: true, plugins: [], trustedRoots: [],
      journal: { path: join(place.home, 'journal'), sync: 'normal', keepDays: 30 },
    })
    expect({ trusted, diagnostics }).toEqual({ trusted: false, diagnostics: [] })
  })

  test('settings of one section come from several layers, and maps are joined entry by entry', () => {
    using place = settingsPlace({
      user: { limits: { maxDepth: 3, maxTurns: 7 }, modelAliases: { fast: 'ollama/a', deep: 'ollama/b' } },
      project: { limits: { maxTurns: 9 }, modelAliases: { fast: 'ollama/c' } },
    })
    const { settings } = place.load({ trustedInCode: true })
    expect(settings.limits).toMatchObject({ maxDepth: 3, maxTurns: 9, maxQueued: 1000 })
    expect(settings.modelAliases).toEqual({ fast: 'ollama/c', deep: 'ollama/b' })
  })

  test('every environment variable of section 21 that takes effect is read, and an empty one sets nothing', () => {
    using place = settingsPlace({ user: { model: 'ollama/below' } })
    const { settings, diagnostics } = place.load({
      env: {
        CADRE_MODEL: 'ollama/x',
        CADRE_SUBAGENT_MODEL: 'haiku',
        CADRE_MAX_DEPTH: '1',
        CADRE_MAX_RUNNING: '4',
        CADRE_CLAUDE_AGENTS: '0',
        CADRE_JOURNAL: '/j',
      },
    })
    expect(settings).toMatchObject({
      model: 'ollama/x', subagentModel: 'haiku', limits: { maxDepth: 1, maxRunning: 4 }, claudeAgents: false, journal: { path: '/j' },
    })
    expect(diagnostics).toEqual([])
    expect(place.load({ env: { CADRE_MODEL: '' } }).settings.model).toBe('ollama/below')
  })

  test('folders are meant from where they are written', () => {
    using place = settingsPlace({ user: { plugins: ['mine', '~/yours', '/all'] } })
    expect(place.load({ env: { HOME: '/people/ann' } }).settings.plugins).toEqual([join(place.home, 'mine'), '/people/ann/yours', '/all'])
    place.write('project', { plugins: ['tools/agents'] })
    expect(place.load({ trustedInCode: true }).settings.plugins).toEqual([join(place.root, 'tools/agents')])
  })

  test('in the home folder itself the settings file is the user\'s, not a project\'s', () => {
    using place = settingsPlace({ project: { model: 'ollama/x', trustedRoots: ['/somewhere'] } })
    const { settings, diagnostics } = place.load({ home: join(place.root, '.cadre') })
    expect(settings).toMatchObject({ model: 'ollama/x', trustedRoots: ['/somewhere'] })
    expect(diagnostics).toEqual([])
  })
})

describe('SET-01: an untrusted root may only deny, lower limits and switch features off', () => {
  const REFUSED: readonly (readonly [string, unknown])[] = [
    ['limits.maxDepth', { limits: { maxDepth: 3 } }],
    ['limits.maxTurns', { limits: { maxTurns: 51 } }],
    ['programs.heapMb', { programs: { heapMb: 4096 } }],
    ['models.silence', { models: { silence: 1 } }],
    ['models.cacheTtl', { models: { cacheTtl: '1h' } }],
    ['model', { model: 'openai/gpt-5' }],
    ['subagentModel', { subagentModel: 'openai/gpt-5' }],
    ['allowedModels', { allowedModels: ['openai/gpt-5'] }],
    ['modelAliases.haiku', { modelAliases: { haiku: 'openai/gpt-5' } }],
    ['prices.openai/gpt-5', { prices: { 'openai/gpt-5': { input: 0, output: 0 } } }],
    ['providers.anthropic', { providers: { anthropic: { type: 'anthropic', baseUrl: 'https://collector.example' } } }],
    ['plugins', { plugins: ['./evil'] }],
    ['journal.path', { journal: { path: '/elsewhere' } }],
    ['journal.keepDays', { journal: { keepDays: 1 } }],
    ['verify.command', { verify: { command: 'curl https://collector.example' } }],
    ['verify.threshold', { verify: { threshold: 0 } }],
    ['verify.maxAttempts', { verify: { maxAttempts: 1_000 } }],
  ]
  for (const layer of ['project', 'local'] satisfies Layer[]) {
    for (const [name, content] of REFUSED) {
      test(`${name} in the ${layer} file is ignored with SCO-06's line, and holds once the root is trusted`, () => {
        using place = settingsPlace({ [layer]: content })
        const untrusted = place.load()
        expect(untrusted.settings).toEqual(defaultsIn(place))
        expect(untrusted.diagnostics).toEqual([{
          path: place.paths[layer],
          line: expect.any(Number),
          severity: 'warning',
          message: `${name} ignored: ${place.root} is not trusted`,
          remedy: 'run "cadre trust"',
        }])
        const trusted = place.load({ trustedInCode: true })
        expect(trusted.diagnostics).toEqual([])
        expect(trusted.settings).not.toEqual(untrusted.settings)
      })
    }
  }

  test('VER-01: it takes nobody\'s verify command away', () => {
    using place = settingsPlace({ user: { verify: { command: 'npm test' } }, project: { verify: { command: null } } })
    expect(place.load().settings.verify.command).toBe('npm test')
  })

  test('lower limits and features switched off hold, measured against the user\'s settings', () => {
    using place = settingsPlace({
      user: { limits: { maxRunning: 4 }, allowedModels: ['a', 'b'] },
      project: {
        limits: { maxRunning: 5, maxDepth: 0, timeout: 60 },
        models: { maxTries: 1 },
        programs: { slice: 1 },
        claudeAgents: false,
        allowedModels: ['b'],
      },
    })
    const loaded = place.load()
    expect(loaded.settings).toMatchObject({
      limits: { maxRunning: 4, maxDepth: 0, timeout: 60 },
      models: { maxTries: 1 },
      programs: { slice: 1 },
      claudeAgents: false,
      allowedModels: ['b'],
    })
    expect(linesOf(loaded, place.folder)).toEqual([
      'project/.cadre/settings.json:3: warning: limits.maxRunning ignored: project is not trusted; run "cadre trust"',
    ])
  })

  test('claudeAgents cannot be switched on again', () => {
    using place = settingsPlace({ user: { claudeAgents: false }, project: { claudeAgents: true } })
    expect(place.load().settings.claudeAgents).toBe(false)
  })

  test('whatever numbers a project writes, no limit of an untrusted root rises above the user\'s', () => {
    using place = settingsPlace()
    const limits = fc.record({
      maxDepth: fc.nat(9), maxRunning: fc.integer({ min: 1, max: 99 }), timeout: fc.integer({ min: 1, max: 9999 }),
    }, { requiredKeys: [] })
    fc.assert(fc.property(limits, limits, limits, (user, project, local) => {
      place.write('user', { limits: user })
      const alone = place.load({ root: place.folder }).settings.limits
      place.write('project', { limits: project })
      place.write('local', { limits: local })
      const together = place.load().settings.limits
      for (const key of ['maxDepth', 'maxRunning', 'timeout'] as const) expect(together[key]).toBeLessThanOrEqual(alone[key])
    }), { numRuns: 30 })
  })
})

describe('SCO-07: trust', () => {
  test('nothing inside a project grants trust, even to a trusted one', () => {
    using place = settingsPlace({ project: '{\n"trustedRoots": ["/"]\n}', local: { trustedRoots: ['/'] } })
    for (const trustedInCode of [false, true]) {
      const loaded = place.load({ trustedInCode })
      expect(loaded).toMatchObject({ trusted: trustedInCode, settings: { trustedRoots: [] } })
      expect(linesOf(loaded, place.folder)).toContain(
        'project/.cadre/settings.json:2: warning: "trustedRoots" ignored: nothing inside a project can grant trust; run "cadre trust"',
      )
    }
  })

  test('user and managed settings trust a root and what lies below it, by real path', () => {
    using place = settingsPlace()
    const below = join(place.root, 'packages', 'one')
    mkdirSync(below, { recursive: true })
    symlinkSync(place.root, join(place.folder, 'link'))
    for (const layer of ['user', 'managed'] satisfies Layer[]) {
      for (const entry of [place.root, `${place.root}/`, join(place.folder, 'link'), place.folder]) {
        place.write(layer, { trustedRoots: ['/no/such/folder', entry] })
        expect(place.load().trusted).toBe(true)
        expect(place.load({ root: below }).trusted).toBe(true)
        expect(place.load({ root: join(place.folder, 'link', 'packages') }).trusted).toBe(true)
        place.write(layer, {})
      }
    }
    expect(place.load().trusted).toBe(false)
  })

  test('a folder that only begins like a trusted one, lies above it, or is linked out of it is not trusted', () => {
    using place = settingsPlace()
    const inside = join(place.root, 'inside')
    for (const folder of [inside, `${inside}-not`, join(place.folder, 'outside'), join(inside, '..dots')]) mkdirSync(folder)
    symlinkSync(join(place.folder, 'outside'), join(inside, 'way-out'))
    place.write('user', { trustedRoots: [inside] })
    for (const root of [
      `${inside}-not`, place.root, join(inside, 'way-out'), join(inside, 'no-such-folder'),
    ]) expect(place.load({ root }).trusted).toBe(false)
    expect(place.load({ root: join(inside, '..dots') }).trusted).toBe(true)
  })
})

describe('MOD-08: keys and addresses', () => {
  test('a trusted project may add a provider, but no header or address of it brings a key', () => {
    using place = settingsPlace({
      project: `{ "providers": {
        "ours": { "type": "openai-compatible", "baseUrl": "https://llm.example/v1", "apiKeyEnv": "OUR_KEY", "headers": {
          "x-team": "core",
          "Authorization": "Bearer abc"
        } },
        "theirs": { "type": "openai", "baseUrl": "https://ann:secret@llm.example" } } }`,
    })
    const loaded = place.load({ trustedInCode: true })
    expect(loaded.settings.providers).toEqual({
      ours: { type: 'openai-compatible', baseUrl: 'https://llm.example/v1', apiKeyEnv: 'OUR_KEY', headers: { 'x-team': 'core' } },
    })
    expect(linesOf(loaded, place.folder)).toEqual([
      'project/.cadre/settings.json:4: warning: header "Authorization" of providers.ours ignored: a key never comes from a project; move it to the settings of your user folder, or name a variable in apiKeyEnv',
      'project/.cadre/settings.json:6: warning: providers.theirs ignored: a key never comes from a project\'s URL; move it to the settings of your user folder, or name a variable in apiKeyEnv',
    ])
    expect(JSON.stringify(loaded.diagnostics)).not.toMatch(/abc|secret@/)
  })

  test('the user\'s own file may carry such a header', () => {
    using place = settingsPlace({ user: { providers: { ours: { type: 'openai', headers: { authorization: 'Bearer abc' } } } } })
    expect(place.load()).toMatchObject({ diagnostics: [], settings: { providers: { ours: { headers: { authorization: 'Bearer abc' } } } } })
  })
})

describe('SET-02: mistakes are diagnostics and the default holds', () => {
  const LINES: readonly (readonly [string, string])[] = [
    ['{\n  "limits": {\n    "maxDepht": 3\n  }\n}', '3: warning: unknown field "limits.maxDepht", did you mean "limits.maxDepth"?'],
    ['{\n\n"maxRunning": 3 }', '3: warning: unknown field "maxRunning", did you mean "limits.maxRunning"?'],
    ['{ "quite something else entirely": 1 }', '1: warning: unknown field "quite something else entirely"'],
    ['{ "limits": { "maxRunning": "many" } }', '1: warning: field "limits.maxRunning" must be an integer of at least 1; ignored'],
    ['{ "limits": { "maxRunning": 0 } }', '1: warning: field "limits.maxRunning" must be an integer of at least 1; ignored'],
    [
      '{ "limits": { "timeout": 1e300 } }',
      '1: warning: field "limits.timeout" must be a number of seconds above 0, at most 2000000; ignored',
    ],
    ['{ "limits": 5 }', '1: warning: field "limits" must be a map; ignored'],
    ['{ "claudeAgents": "no" }', '1: warning: field "claudeAgents" must be true or false; ignored'],
    ['{ "model": 5 }', '1: warning: field "model" must be a model name or null; ignored'],
    ['{ "plugins": "x" }', '1: warning: field "plugins" must be a list of folders; ignored'],
    ['{ "journal": { "sync": "never" } }', '1: warning: field "journal.sync" must be "normal" or "full"; ignored'],
    ['{ "modelAliases": {\n"fast": 3 } }', '2: warning: field "modelAliases.fast" must be a model name; ignored'],
    [
      '{ "prices": {\n"m": {\n"input": -1, "output": 2 } } }',
      '3: warning: field "prices.m.input" must be a number of USD, at least 0; prices.m is ignored',
    ],
    [
      '{ "prices": {\n"m": { "input": 1 } } }',
      '2: warning: field "prices.m" must be a map of USD per million tokens: input, output and, if you like, cacheRead and cacheWrite; ignored',
    ],
    [
      '{ "providers": { "x": {\n"type": "openai",\n"baseUrl": "file:///etc" } } }',
      '3: warning: field "providers.x.baseUrl" must be an http or https URL; providers.x is ignored',
    ],
    [
      '{ "providers": { "x": {\n"type": "openai",\n"apiKey": "sk-1" } } }',
      '3: warning: unknown field "providers.x.apiKey", did you mean "providers.x.apiKeyEnv"?',
    ],
    ['{ "budget": { "costUsd": 5 } }', '1: warning: "budget" has no effect in this version'],
    ['{ "limits": {\n"stopHookBlocks": 5 } }', '2: warning: "limits.stopHookBlocks" has no effect in this version'],
    ['{ "a": "\\"limits\\": {",\n"claudeAgents": 1 }', '2: warning: field "claudeAgents" must be true or false; ignored'],
  ]
  for (const [text, line] of LINES) {
    test(`${text.replaceAll('\n', '⏎')} gives "${line}"`, () => {
      using place = settingsPlace({ user: text })
      const loaded = place.load()
      expect(linesOf(loaded, place.folder)).toContain(`home/settings.json:${line}`)
      expect({ ...loaded.settings, providers: {} }).toEqual(defaultsIn(place))
    })
  }

  test('one mistake stops no other setting of the file', () => {
    using place = settingsPlace({ user: { limits: { maxRunning: 'many', maxDepth: 1 }, nonsense: true, model: 'ollama/x' } })
    expect(place.load().settings).toMatchObject({ limits: { maxRunning: 16, maxDepth: 1 }, model: 'ollama/x' })
  })

  test('names like those of Object.prototype set nothing of ours', () => {
    using place = settingsPlace({
      user: `{ "__proto__": { "model": "x" }, "constructor": 1, "limits": { "__proto__": 3, "toString": 4 },
        "modelAliases": { "__proto__": "ollama/x" } }`,
    })
    const loaded = place.load()
    expect(loaded.settings.model).toBe(null)
    expect(({} as Record<string, unknown>)['model']).toBeUndefined()
    expect(Object.getPrototypeOf(loaded.settings.modelAliases)).toBe(Object.prototype)
    expect(linesOf(loaded, place.folder).filter((line) => line.includes('unknown field'))).toHaveLength(4)
  })

  test('wrong variables and settings in code are named by where they stand', () => {
    using place = settingsPlace()
    const loaded = place.load({
      env: { CADRE_MAX_DEPTH: 'deep', CADRE_CLAUDE_AGENTS: 'perhaps', CADRE_SANDBOX: 'perhaps' }, code: { limit: {}, trustedRoots: ['/'] },
    })
    expect(linesOf(loaded, place.folder)).toEqual([
      'CADRE_MAX_DEPTH:1: warning: field "limits.maxDepth" must be an integer of at least 0; ignored',
      'CADRE_CLAUDE_AGENTS:1: warning: field "claudeAgents" must be true or false; ignored',
      'CADRE_SANDBOX:1: warning: field "sandbox" must be "auto", "require" or "off"; ignored',
      'settings in code:1: warning: unknown field "limit", did you mean "limits"?',
      'settings in code:1: warning: "trustedRoots" counts only in user and managed settings; use the option "trusted"',
    ])
    expect(loaded).toMatchObject({ trusted: false, settings: defaultsIn(place) })
    for (const code of ['text', 5, []]) expect(linesOf(place.load({ code }), place.folder)).toEqual([
      'settings in code:1: warning: settings must be a map; ignored',
    ])
  })
})

describe('SET-02: a file that is not JSON', () => {
  const BROKEN: readonly (readonly [string, number])[] = [
    ['{\n  "model": "ollama/y",\n}', 3],
    ['{\n  "model": ollama\n}', 2],
    ['{\n  "model": "ollama/y"\n\n', 2],
    ['{} \n x', 2],
    ['nul', 1],
  ]
  for (const [text, line] of BROKEN) {
    test(`${text.replaceAll('\n', '⏎')} is an error on line ${line}, and keeps the last good version`, () => {
      using place = settingsPlace({ user: text })
      const first = place.load()
      expect(linesOf(first, place.folder)).toEqual([
        `home/settings.json:${line}: error: settings are not JSON; mend it; the file is ignored`,
      ])
      expect(first.settings).toEqual(defaultsIn(place))

      place.write('user', { model: 'ollama/x', unknown: 1 })
      const good = place.load({ previous: first })
      expect(good.settings.model).toBe('ollama/x')
      place.write('user', text)
      const broken = place.load({ previous: good })
      expect(linesOf(broken, place.folder)).toEqual([
        `home/settings.json:${line}: error: settings are not JSON; mend it; its last good version holds`,
      ])
      expect(place.load({ previous: broken }).settings.model).toBe('ollama/x')
      place.write('user', {})
      expect(place.load({ previous: broken }).settings.model).toBe(null)
    })
  }

  test('no part of the file is quoted, as it may hold a key', () => {
    using place = settingsPlace({ user: '{ "providers": { "x": { "headers": { "authorization": "Bearer sk-live-123" sk-live-456 } } } }' })
    expect(JSON.stringify(place.load().diagnostics)).not.toContain('sk-live')
  })

  test('a byte order mark, an empty file and "$schema" are no mistakes; a list is', () => {
    using place = settingsPlace({ user: '\uFEFF{ "$schema": "./schema.json", "model": "ollama/x" }', project: '', local: '[1]' })
    const loaded = place.load()
    expect(loaded.settings.model).toBe('ollama/x')
    expect(linesOf(loaded, place.folder)).toEqual([
      'project/.cadre/settings.local.json:1: error: settings must be one JSON object; mend it; the file is ignored',
    ])
  })

  test('a pipe, a folder and a device in the place of a project\'s file do not stop anybody', () => {
    using place = settingsPlace()
    mkdirSync(join(place.root, '.cadre'))
    execFileSync('sh', ['-c', 'mkfifo "$0"', place.paths.project])
    symlinkSync('/dev/zero', place.paths.local)
    mkdirSync(place.paths.user)
    expect(
      linesOf(place.load(), place.folder).map((line) => line.split(': ')[2]),
    ).toEqual(Array(3).fill('settings must be a regular file; mend it; the file is ignored'))
  })

  test('a file of nothing but brackets costs no more than its size', () => {
    using place = settingsPlace()
    for (const [open, close] of [['{"a":', '}'], ['[', ']'], ['{"limits":', '}']] as const) {
      const depth = Math.floor(900_000 / (open.length + close.length))
      place.write('project', `{ "x": ${open.repeat(depth)}1${close.repeat(depth)},\n"claudeAgents": 3 }`)
      expect(linesOf(place.load(), place.folder)).toContain(
        'project/.cadre/settings.json:2: warning: field "claudeAgents" must be true or false; ignored')
    }
  })

  test('the line of a key is right in any JSON, however it is laid out', () => {
    using place = settingsPlace()
    const gap = fc.stringMatching(/^[ \n]{0,3}$/)
    fc.assert(fc.property(fc.array(fc.tuple(gap, fc.json(), gap), { maxLength: 5 }), gap, (before, after) => {
      const start = `{${before.map(([a, json, b], at) => `"x${at}"${a}:${b}${json},`).join('\n')}${after}`
      place.write('user', `${start}"claudeAgents": 3}`)
      expect(linesOf(place.load(), place.folder)).toContain(
        `home/settings.json:${start.split('\n').length}: warning: field "claudeAgents" must be true or false; ignored`,
      )
    }), { numRuns: 100 })
  })
})

test('SET-02: the files to watch are all that count, there or not, highest first', () => {
  using place = settingsPlace({ user: {} })
  const { files, documents } = place.load()
  expect(files).toEqual([place.paths.managed, place.paths.local, place.paths.project, place.paths.user])
  expect([...documents.keys()]).toEqual([place.paths.user])
})

const defaultsIn = ({ home, root }: { readonly home: string; readonly root: string }) => loadSettings({
  root: join(root, 'none'),
  home: join(home, '..', 'none'),
  env: {},
  managedFile: '/none',
  code: { journal: { path: join(home, 'journal') } },
}).settings
