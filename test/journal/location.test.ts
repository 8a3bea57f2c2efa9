import { basename, dirname } from 'node:path'

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { journalFile } from '../../src/journal/journal.ts'

describe('JRN-01: one journal per root', () => {
  test('its name shows the root\'s folder', () => {
    const file = journalFile({ folder: '/home/me/.cadre/journal', root: '/home/me/code/my shop (v2)' })
    expect(dirname(file)).toBe('/home/me/.cadre/journal')
    expect(basename(file)).toMatch(/^my-shop-v2--[0-9a-f]{12}\.sqlite$/)
    expect(basename(journalFile({ folder: '/j', root: '/' }))).toMatch(/^root-[0-9a-f]{12}\.sqlite$/)
  })

  test('any root has a plain file name in the folder, the same every time, and no other root shares it', () => {
    const root = fc.string({ unit: 'grapheme', minLength: 1 }).map((name) => `/repos/${name}`)
    fc.assert(fc.property(root, root, (a, b) => {
      const [fileA, fileB] = [a, b].map((one) => journalFile({ folder: '/j', root: one }))
      expect(fileA).toMatch(/^\/j\/[A-Za-z0-9_][A-Za-z0-9._-]*\.sqlite$/)
      expect(fileA === fileB).toBe(a === b)
    }))
  })
})
