import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, cliPlace } from './place.ts'

describe('CMD-08, SCO-07: cadre trust', () => {
  test('it trusts the project from any folder of it, so that what was ignored counts, and takes that back', async () => {
    const place = cliPlace({
      'cadre/settings.json': '{ "limits": { "maxTurns": 9 } }',
      'project/.cadre/settings.json': '{\n  "limits": { "maxDepth": 5 }\n}',
      'project/.cadre/agents/a.md': agent('a', 'hooks:\n  Stop: []\n'),
    })
    execFileSync('git', ['init', '-q'], { cwd: place.root })
    mkdirSync(join(place.root, 'deep', 'down'), { recursive: true })
    const inside = { cwd: join(place.root, 'deep', 'down') }
    const ignored = [
      'project/.cadre/settings.json:2: warning: limits.maxDepth ignored: project is not trusted; run "cadre trust"',
      'project/.cadre/agents/a.md:4: warning: hooks ignored: project is not trusted; run "cadre trust"',
    ]
    expect((await place.cadre(['agents', 'list'])).stderr.trimEnd().split('\n')).toEqual(ignored)

    expect(await place.cadre(['trust'], inside)).toMatchObject({
      code: 0, stdout: 'project and all below it is trusted now (in cadre/settings.json).\n', stderr: '',
    })
    expect(JSON.parse(readFileSync(join(place.folder, 'cadre/settings.json'), 'utf8'))).toEqual({
      limits: { maxTurns: 9 }, trustedRoots: [place.root],
    })
    expect((await place.cadre(['agents', 'list'])).stderr).toBe('')
    expect((await place.cadre(['trust'])).stdout).toBe('project was trusted already (in cadre/settings.json).\n')

    expect(
      (await place.cadre(['trust', '.', '--remove'], inside)).stdout,
    ).toMatch(/^project\/deep\/down is still trusted: project covers it\. To end that: cadre trust project --remove\n$/)
    expect((await place.cadre(['trust', '--remove'], inside)).stdout).toBe('project is trusted no longer (in cadre/settings.json).\n')
    expect(JSON.parse(readFileSync(join(place.folder, 'cadre/settings.json'), 'utf8'))).toMatchObject({ trustedRoots: [] })
  })

  test('a path that is no folder, or settings that are not JSON, exit with 2 and change nothing', async () => {
    const place = cliPlace({ 'cadre/settings.json': '{ "model": ' })
    expect(await place.cadre(['trust', 'missing'])).toMatchObject({
      code: 2, stdout: '', stderr: 'cadre: No such folder: project/missing. Only a folder can be trusted.\n',
    })
    expect(await place.cadre(['trust'])).toMatchObject({
      code: 2, stdout: '', stderr: 'cadre: cadre/settings.json is not one JSON object and was left as it is. Mend it, then try again.\n',
    })
    expect(readFileSync(join(place.folder, 'cadre/settings.json'), 'utf8')).toBe('{ "model": ')
  })

  test('--json says what was done', async () => {
    const place = cliPlace()
    expect(await place.json(['trust', '.'])).toEqual({ root: place.root, file: join(place.folder, 'cadre/settings.json'), added: true })
  })
})
