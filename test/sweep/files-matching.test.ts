import { describe, expect, test } from 'vitest'
import { filesMatching } from '../../src/sweep-run.ts'
import { testRoot } from '../tools/place.ts'

const names = Array.from({ length: 25 }, (_, at) => `sub/f${String(at).padStart(2, '0')}.ts`)
const place = () => testRoot({ ...Object.fromEntries(names.map((name) => [name, ''])), 'other/x.ts': '' }).root

describe('CMD-05 the files of a pattern', () => {
  for (const page of [1, 7, 24, 25, 26]) {
    test(`are all there, each once, also when they come ${page} at a time`, async () => {
      const root = place()
      expect(await filesMatching('sub/*.ts', { root, paths: [] }, root, page)).toEqual(names)
    })
  }

  test('are matched from where the user stands and named from the root', async () => {
    const root = place()
    expect(await filesMatching('*.ts', { root, paths: [] }, `${root}/sub`)).toEqual(names)
    expect(await filesMatching('*.ts', { root, paths: [] }, `${root}/other`)).toEqual(['other/x.ts'])
    expect(await filesMatching('none', { root, paths: [] }, root)).toEqual([])
  })

  test('a pattern that leaves the root is a usage error', async () => {
    const root = place()
    await expect(filesMatching('../*', { root, paths: [] }, root)).rejects.toMatchObject({
      code: 'USAGE', message: '--over ../* cannot be used: Path is outside the workspace: ../*.',
    })
  })
})
