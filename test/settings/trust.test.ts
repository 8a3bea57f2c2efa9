import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isTrustedRoot, trustRoot, untrustRoot } from '../../src/settings/trust.ts'
import { settingsPlace } from './place.ts'

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

describe('SCO-07: cadre trust writes the user\'s settings', () => {
  test('it adds the real path once, keeps everything else, and takes it out again', async () => {
    using place = settingsPlace({ user: { model: 'ollama/x', unknown: { kept: [1] } } })
    symlinkSync(place.root, join(place.folder, 'link'))
    expect(await trustRoot(place.home, join(place.folder, 'link'))).toEqual({ root: place.root, file: place.paths.user, added: true })
    expect(await trustRoot(place.home, `${place.root}/`)).toMatchObject({ added: false })
    expect(read(place.paths.user)).toEqual({ model: 'ollama/x', unknown: { kept: [1] }, trustedRoots: [place.root] })
    expect(place.load().trusted).toBe(true)
    expect(await untrustRoot(place.home, join(place.folder, 'link'))).toEqual({
      root: place.root, file: place.paths.user, removed: true, coveredBy: null,
    })
    expect(read(place.paths.user)).toEqual({ model: 'ollama/x', unknown: { kept: [1] }, trustedRoots: [] })
    expect(await untrustRoot(place.home, place.root)).toMatchObject({ removed: false })
  })

  test('the first trust makes the user folder and a file that only the user can read', async () => {
    using place = settingsPlace()
    rmSync(place.home, { recursive: true })
    await trustRoot(place.home, place.root)
    expect(statSync(place.home).mode & 0o777).toBe(0o700)
    expect(statSync(place.paths.user).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.home)).toEqual(['settings.json'])
  })

  test('mode and link of an existing file stay', async () => {
    using place = settingsPlace()
    const dotfiles = join(place.folder, 'dotfiles.json')
    writeFileSync(dotfiles, '{}')
    chmodSync(dotfiles, 0o640)
    symlinkSync(dotfiles, place.paths.user)
    await trustRoot(place.home, place.root)
    expect(read(dotfiles)).toEqual({ trustedRoots: [place.root] })
    expect(statSync(dotfiles).mode & 0o777).toBe(0o640)
  })

  for (const [what, text] of [
    ['not JSON', '{ "model": "x", }'], ['a list', '[]'], ['no list of roots', '{ "trustedRoots": "/x" }'],
  ] as const) {
    test(`a settings file that is ${what} is left as it is`, async () => {
      using place = settingsPlace({ user: text })
      await expect(trustRoot(place.home, place.root)).rejects.toMatchObject({
        code: 'SETTINGS', message: expect.stringContaining(place.paths.user),
      })
      await expect(untrustRoot(place.home, place.root)).rejects.toMatchObject({ code: 'SETTINGS' })
      expect(readFileSync(place.paths.user, 'utf8')).toBe(text)
      expect(readdirSync(place.home)).toEqual(['settings.json'])
    })
  }

  test('only a folder that exists can be trusted; one that is gone can be taken out', async () => {
    using place = settingsPlace({ user: { trustedRoots: ['/no/such/folder'] } })
    writeFileSync(join(place.root, 'file'), '')
    for (const path of [join(place.root, 'file'), join(place.root, 'missing')]) {
      await expect(trustRoot(place.home, path)).rejects.toMatchObject({
        code: 'NOT_FOUND', message: `No such folder: ${path}. Only a folder can be trusted.`,
      })
    }
    expect(await untrustRoot(place.home, '/no/such/folder')).toMatchObject({ removed: true })
  })

  test('taking out a root says which entry above still covers it', async () => {
    using place = settingsPlace()
    const below = join(place.root, 'below')
    mkdirSync(below)
    await trustRoot(place.home, place.root)
    await trustRoot(place.home, below)
    expect(await untrustRoot(place.home, below)).toMatchObject({ removed: true, coveredBy: place.root })
    expect(isTrustedRoot(below, [place.root])).toBe(true)
  })

  test('entries written by hand with ~ or with a slash at the end are found', async () => {
    using place = settingsPlace()
    const home = process.env['HOME']
    process.env['HOME'] = place.folder
    try {
      place.write('user', { trustedRoots: ['~/project', `${place.root}/`] })
      expect(await trustRoot(place.home, place.root)).toMatchObject({ added: false })
      expect(await untrustRoot(place.home, place.root)).toMatchObject({ removed: true, coveredBy: null })
      expect(read(place.paths.user)).toEqual({ trustedRoots: [] })
    } finally {
      process.env['HOME'] = home
    }
  })

  test('ten processes that trust a folder each at the same moment lose none', async () => {
    using place = settingsPlace({ user: { model: 'ollama/x' } })
    const folders = Array.from({ length: 10 }, (_, at) => join(place.root, `p${at}`))
    for (const folder of folders) mkdirSync(folder)
    const module = new URL('../../src/settings/trust.ts', import.meta.url).href
    const code = `import { trustRoot } from ${JSON.stringify(module)}; await trustRoot(process.argv[1], process.argv[2])`
    const children = folders.map((folder) => spawn(process.execPath, [
      '--input-type=module', '-e', code, place.home, folder,
    ], { stdio: 'inherit' }))
    expect(await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))).toEqual(folders.map(() => 0))
    const { trustedRoots, ...rest } = read(place.paths.user) as { trustedRoots: string[] }
    expect(trustedRoots.toSorted()).toEqual(folders.toSorted())
    expect(rest).toEqual({ model: 'ollama/x' })
    expect(readdirSync(place.home)).toEqual(['settings.json'])
  })

  test('a lock left by a process that died is taken over', async () => {
    using place = settingsPlace()
    const lock = `${place.paths.user}.lock`
    writeFileSync(lock, '')
    utimesSync(lock, new Date(0), new Date(0))
    expect(await trustRoot(place.home, place.root)).toMatchObject({ added: true })
    expect(readdirSync(place.home)).toEqual(['settings.json'])
  })
})
