import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PARSED_FILE } from '../../src/definitions/parsed-before.ts'
import { BUILT } from '../built.ts'
import { load, place } from './temp.ts'

/** The built-in types of the build, in a place of their own. */
function builtPlace() {
  const at = place()
  cpSync(join(BUILT, 'agents'), at.builtIn, { recursive: true })
  return at
}

describe('TYP-17 built-in types as the build has read them', () => {
  test('are what their files say, and as frozen', async () => {
    const at = builtPlace()
    const built = (await load(at)).types.list().types
    rmSync(join(at.builtIn, PARSED_FILE))
    expect(built.length).toBeGreaterThan(5)
    expect(built).toEqual((await load(at)).types.list().types)
    expect(built.every(({ type }) => Object.isFrozen(type) && type.path?.startsWith(at.builtIn))).toBe(true)
  })

  test('are read again where a file was changed after the build', async () => {
    const at = builtPlace()
    const file = join(at.builtIn, 'explorer.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^description: .*$/m, 'description: Another one.'))
    expect((await load(at)).types.find('explorer')?.description).toBe('Another one.')
  })

  for (const broken of ['', 'null', '[]', '{"x": 1}', '{']) {
    test(`are read from their files where what the build left is ${broken || 'empty'}`, async () => {
      const at = builtPlace()
      writeFileSync(join(at.builtIn, PARSED_FILE), broken)
      const loaded = await load(at)
      expect(loaded.types.find('explorer')?.tools).toEqual(['read', 'ls', 'glob', 'grep'])
      expect(loaded.told).toEqual([])
    })
  }

  test('need no YAML parser: none is loaded before a file of the user asks for it', () => {
    const { root, home } = place()
    const code = `
      const { createOrchestrator } = await import(${JSON.stringify(join(BUILT, 'src', 'index.js'))})
      const orchestrator = await createOrchestrator({ cwd: ${JSON.stringify(root)}, watch: false, env: { CADRE_HOME: ${JSON.stringify(home)} } })
      process.stdout.write(orchestrator.listTypes().types.length + ' ' + globalThis.sources.some((source) => source.includes('YAMLParseError')))
      await orchestrator.close()`
    const hooks = `
      import { registerHooks } from 'node:module'
      globalThis.sources = []
      registerHooks({ load(url, context, next) {
        const loaded = next(url, context)
        globalThis.sources.push(String(loaded.source))
        return loaded
      } })`
    const run = () => spawnSync(process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, '--input-type=module', '-e', code], { encoding: 'utf8' })
    expect(run()).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^\d+ false$/) as unknown })
    cpSync(join(BUILT, 'agents', 'explorer.md'), join(home, 'agents', 'mine.md'))
    expect(run()).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^\d+ true$/) as unknown })
  })
})
