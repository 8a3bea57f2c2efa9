import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixText } from '../../src/definitions/fix.ts'
import { parseAgentFile } from '../../src/definitions/parse.ts'
import { load, place, put } from './temp.ts'
import { variants } from './variants.ts'

const at = { path: 'x.md', scope: 'user', trusted: true, root: '/' } as const

const said = (text: string) => {
  const { type } = parseAgentFile(text, at)
  return type && { name: type.name, description: type.description, tools: type.tools, model: type.model, prompt: type.prompt }
}

test('TYP-03 each of 1,000 ways to write an agent file means what its author meant, also after --fix', { timeout: 120_000 }, () => {
  const files = variants(1_000)
  for (const { text, meant, shape } of files) {
    expect(said(text), `${shape}:\n${text}`).toEqual(meant)
    const fixed = fixText(text)
    expect(said(fixed), `fixed, ${shape}:\n${fixed}`).toEqual(meant)
    expect(fixText(fixed)).toBe(fixed)
    expect(parseAgentFile(fixed, at).diagnostics.filter(({ message }) => message.includes('not valid YAML'))).toEqual([])
  }
  const broken = files.filter(({ text }) => parseAgentFile(text, at).diagnostics.some(({ message }) => message.includes('not valid YAML')))
  expect(broken.length).toBeGreaterThan(50)
})

test('TYP-19 a thousand files load from one folder, bad ones among them stop no other', { timeout: 120_000 }, async () => {
  const here = place()
  const files = variants(1_000, 2)
  for (const [i, { text }] of files.entries()) put(join(here.home, 'agents', `${i}.md`), text)
  put(join(here.home, 'agents', 'bad.md'), '---js\nprocess.exit(1)\n---\n')
  const { types } = await load(here)
  expect(types.list().types.map(({ type }) => type.name).toSorted()).toEqual(files.map(({ meant }) => meant.name).toSorted())
  expect(types.list().skipped.map(({ path }) => path)).toEqual([join(here.home, 'agents', 'bad.md')])
})
