import { cpSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { fixText } from '../../src/definitions/fix.ts'
import type { LintVerdict } from '../../src/definitions/lint.ts'
import { lint } from '../../src/definitions/lint.ts'
import type { Expected } from './corpus-table.ts'
import { CORPUS } from './corpus-table.ts'
import { tempFolder } from './temp.ts'

const folder = join(import.meta.dirname, 'corpus')

const inShort = (root: string, { line, severity, message }: Diagnostic): string => `${line}: ${severity}: ${message.replaceAll(`${root}/`, '')}`

const asExpected = (root: string, { path, kind, type, diagnostics }: LintVerdict): Expected => ({
  file: relative(root, path),
  kind,
  ...(type ? { name: type.name, description: type.description } : {}),
  ...(type?.tools ? { tools: type.tools } : {}),
  ...(type?.model ? { model: type.model } : {}),
  ...(type?.mode === 'build' ? { mode: 'build' } : {}),
  ...(diagnostics.length > 0 ? { findings: diagnostics.map((diagnostic) => inShort(root, diagnostic)) } : {}),
})

describe('the hand-made agent files', async () => {
  const verdicts = new Map((await lint([folder])).map((verdict) => [relative(folder, verdict.path), verdict]))

  for (const row of CORPUS) {
    test(`TYP-03 CMD-07 lint gives ${row.file} the verdict ${row.kind}, with the right text and findings`, () => {
      const verdict = verdicts.get(row.file)
      expect(verdict && asExpected(folder, verdict)).toEqual(row)
    })
  }

  test('lint judges every one of them, at least 60, and nothing else', () => {
    expect([...verdicts.keys()].toSorted()).toEqual(CORPUS.map(({ file }) => file).toSorted())
    expect(CORPUS.length).toBeGreaterThanOrEqual(60)
  })

  test('TYP-05 none of them ran code or reached a prototype', () => {
    expect(Object.hasOwn(globalThis, 'pwned')).toBe(false)
    expect('polluted' in {}).toBe(false)
  })

  test('CMD-07 --fix leaves fewer findings, keeps every type, and the second time changes nothing', async () => {
    const copy = join(tempFolder(), 'corpus')
    cpSync(folder, copy, { recursive: true })
    const fixed = await lint([copy], { fix: true })
    const once = fixed.map(({ path }) => readFileSync(path))
    const again = await lint([copy], { fix: true })
    expect(again.filter((verdict) => verdict.fixed)).toEqual([])
    expect(fixed.map(({ path }) => readFileSync(path))).toEqual(once)
    expect(fixed.filter((verdict) => verdict.fixed).length).toBeGreaterThan(20)
    for (const verdict of fixed) {
      const before = verdicts.get(relative(copy, verdict.path))
      expect(verdict.diagnostics.length, verdict.path).toBeLessThanOrEqual(before?.diagnostics.length ?? 0)
      if (!before?.type) continue
      expect(verdict.type).toMatchObject({ name: before.type.name, description: before.type.description, prompt: before.type.prompt })
    }
    const isLineRead = ({ diagnostics }: LintVerdict) => diagnostics.some(({ message }) => message.includes('not valid YAML'))
    const stillLineRead = fixed.filter(isLineRead)
    expect(stillLineRead.map(({ path }) => relative(copy, path))).toEqual(['duplicate-keys.md', 'nested-duplicate.md'])
  })

  test('CMD-07 --fix keeps the body, the line ends and the byte order mark', () => {
    const text = readFileSync(join(folder, 'bom-crlf-broken.md'), 'utf8')
    const fixed = fixText(text)
    expect(fixed).toBe(text.replace('Use this when: lines end the Windows way.', '"Use this when: lines end the Windows way."'))
  })
})
