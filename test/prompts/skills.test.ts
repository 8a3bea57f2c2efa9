import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { promptPlace } from './place.ts'

const type = (...skills: string[]) => ({ name: 'worker', path: 'worker.md', skills })

describe('PRO-04: skills', () => {
  test('their whole SKILL.md goes into the prompt, in the order of the list, each once', () => {
    const { texts, findings } = promptPlace({
      'project/.claude/skills/pdf/SKILL.md': '---\nname: pdf\n---\nRead PDFs.\n',
      'project/.cadre/skills/zip/SKILL.md': 'Unpack.',
    })
    expect(texts.skills(type('zip', 'pdf', 'zip'))).toBe(
      '# Skill: zip (.cadre/skills/zip/SKILL.md)\nUnpack.\n\n# Skill: pdf (.claude/skills/pdf/SKILL.md)\n---\nname: pdf\n---\nRead PDFs.')
    expect(texts.skills({ name: 'plain', path: null })).toBe('')
    expect(findings()).toEqual([])
  })

  test('the nearest folder of the project wins, .cadre before .claude, the user\'s come last', () => {
    const places = [
      'project/deep/.cadre/skills', 'project/deep/.claude/skills', 'project/.cadre/skills', 'project/.claude/skills', 'user/.cadre/skills', 'user/.claude/skills',
    ]
    for (const [i, first] of places.entries()) {
      const { texts } = promptPlace(Object.fromEntries(places.slice(i).map((path) => [`${path}/x/SKILL.md`, path])), { cwd: 'deep' })
      expect(texts.skills(type('x')).split('\n')[1]).toBe(first)
    }
  })

  test('SCO-04: without .claude folders those in .cadre are left', () => {
    const { texts, findings } = promptPlace({ 'project/.claude/skills/x/SKILL.md': 'a', 'user/.claude/skills/x/SKILL.md': 'b' }, { claude: false })
    expect(texts.skills(type('x'))).toBe('')
    expect(findings()).toHaveLength(1)
  })

  test('a missing one is one warning at the type\'s file, and the others are there', () => {
    const place = promptPlace({ 'project/.cadre/skills/there/SKILL.md': 'Here.', 'project/.cadre/skills/bare/other.md': '' })
    for (let i = 0; i < 3; i += 1) expect(place.texts.skills(type('gone', 'bare', 'there'))).toMatch(/^# Skill: there .*\nHere\.$/)
    const warning = (name: string) =>
      `worker.md:1: warning: the skill "${name}" is in no skills folder; write .cadre/skills/${name}/SKILL.md, or take it out of "skills"`
    expect(place.findings()).toEqual([warning('gone'), warning('bare')])
    place.put('project/.cadre/skills/gone/SKILL.md', 'Come.')
    place.later()
    expect(place.texts.skills(type('gone'))).toContain('Come.')
  })

  for (const name of ['../../secret', '..', '/etc', 'a/b', 'a\\b', 'a\nb']) {
    test(`a name that is no folder's is never looked up: ${JSON.stringify(name)}`, () => {
      const { texts, findings } = promptPlace({ 'project/secret/SKILL.md': 'SECRET', 'project/.cadre/SKILL.md': 'SECRET', 'project/.cadre/skills/a/b/SKILL.md': 'SECRET' })
      expect(texts.skills(type(name))).toBe('')
      expect(findings()).toEqual([expect.stringContaining('; a skill is named like its folder')])
    })
  }

  test('a project\'s skill that is a link out of it is not read: the user\'s own of that name is', () => {
    const place = promptPlace({ 'elsewhere/SKILL.md': 'SECRET', 'user/.cadre/skills/x/SKILL.md': 'Mine.' })
    mkdirSync(join(place.root, '.cadre/skills'), { recursive: true })
    symlinkSync('../../../elsewhere', join(place.root, '.cadre/skills/x'))
    expect(place.texts.skills(type('x'))).toBe('# Skill: x (~/.cadre/skills/x/SKILL.md)\nMine.')
    expect(place.findings()).toEqual([
      'project/.cadre/skills/x/SKILL.md:1: warning: it is a link out of the project, so it is in no prompt; put the text itself into the project',
    ])
  })

  test('TYP-11: * means all there are, in the order of their names', () => {
    const { texts, findings } = promptPlace({
      'user/.cadre/skills/b/SKILL.md': 'B', 'project/.claude/skills/c/SKILL.md': 'C', 'project/.cadre/skills/a/SKILL.md': 'A', 'project/.cadre/skills/notes/x.md': '',
    })
    expect(texts.skills(type('*')).split('\n').filter((line) => line.startsWith('#')).map((line) => line.split(' ')[2])).toEqual(['a', 'b', 'c'])
    expect(findings()).toEqual([])
  })
})
