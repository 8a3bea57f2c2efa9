import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { toolsNamed } from '../../src/core/tool-names.ts'
import { loadTypes } from '../../src/definitions/registry.ts'
import { folderWith } from './folder.ts'

const PROGRAMS = ['todo-audit', 'secret-scan', 'import-graph', 'doc-links']
const READ_EFFECT = ['read', 'ls', 'glob', 'grep', 'blame']

describe('PRG-01: the built-in programs', () => {
  test('load as script types that only read, without a word of complaint', async () => {
    const root = folderWith({})
    const diagnostics: Diagnostic[] = []
    const types = await loadTypes({
      root, cwd: root, mainCheckout: null, home: `${root}/home`, userHome: root,
      claudeFolders: true, plugins: [], code: null, trusted: false, onDiagnostic: (each) => diagnostics.push(each), onReload() {},
    })
    onTestFinished(() => types.close())
    expect(diagnostics).toEqual([])
    for (const name of PROGRAMS) {
      const type = types.require(name)
      expect(type).toMatchObject({ name, model: 'script', mode: 'explore', scope: 'built-in', trusted: true })
      expect(pathToFileURL(type.path ?? '').href).toBe(new URL(`../../agents/${name}.md`, import.meta.url).href)
      expect(type.program?.code).toContain('return {')
      expect(type.tools?.flatMap((tool) => toolsNamed(tool, [])).every((tool) => READ_EFFECT.includes(tool))).toBe(true)
      expect(type.description).toContain('Needs no language model.')
    }
  })
})
