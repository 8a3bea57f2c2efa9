import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentType } from '../core/agent-type.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { foldersDown, shownPath } from './folders.ts'
import type { PromptPlace } from './instructions.ts'
import type { TextFiles } from './text-files.ts'

const FILE = 'SKILL.md'

/** In a list of skills: all there are. */
const ALL = '*'

type SkillFolder = { readonly path: string; readonly within: string | null }

/**
 * PRO-04: the whole text of each skill a type names, in its order, under a heading with name and file; the first folder that has it wins: the
 * project's from the cwd up to the root, then the user's, `.cadre` before `.claude`. One that is nowhere is a warning, told once until it was there.
 */
export function openSkills(place: PromptPlace & {
  readonly files: TextFiles
  onDiagnostic(diagnostic: Diagnostic): void
}): (type: Pick<AgentType, 'name' | 'path' | 'skills'>) => string {
  const { root, cwd, home, userHome, files } = place
  const missing = new Set<string>()

  function folders(): readonly SkillFolder[] {
    const kinds = place.claudeFolders() ? ['.cadre', '.claude'] : ['.cadre']
    const project = foldersDown(root, cwd).toReversed().flatMap((folder) => kinds.map((kind) => ({ path: join(folder, kind, 'skills'), within: root })))
    const user = [join(home, 'skills'), ...(place.claudeFolders() ? [join(userHome, '.claude', 'skills')] : [])]
    return [...project, ...user.map((path) => ({ path, within: null }))]
  }

  function find(skill: string, among: readonly SkillFolder[]): { readonly there: boolean; readonly text: string | null } {
    let there = false
    if (!isFolderName(skill)) return { there, text: null }
    for (const { path, within } of among) {
      const file = join(path, skill, FILE)
      const found = files.read(file, within)
      there ||= found.there
      if (found.text) return { there, text: `# Skill: ${skill} (${shownPath(file, root, userHome)})\n${found.text}` }
    }
    return { there, text: null }
  }

  return ({ name, path, skills = [] }) => {
    if (skills.length === 0) return ''
    const among = folders()
    const named = new Set(skills.flatMap((skill) => (skill === ALL ? allIn(among).filter((each) => find(each, among).there) : [skill])))
    return [...named].flatMap((skill) => {
      const { there, text } = find(skill, among)
      const key = JSON.stringify([path, name, skill])
      if (there) missing.delete(key)
      else if (!missing.has(key)) {
        missing.add(key)
        place.onDiagnostic({
          path: path ?? name,
          line: 1,
          severity: 'warning',
          message: `the skill "${skill}" is in no skills folder`,
          remedy: isFolderName(skill) ? `write .cadre/skills/${skill}/${FILE}, or take it out of "skills"` : 'a skill is named like its folder',
        })
      }
      return text === null ? [] : [text]
    }).join('\n\n')
  }
}

/** What could be skills in all folders, in byte order. */
const allIn = (folders: readonly SkillFolder[]): readonly string[] =>
  [...new Set(folders.flatMap(({ path }) => namesIn(path)))].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
  } catch {
    return [] // no such folder, as usual
  }
}

const isFolderName = (name: string): boolean => !/[/\\\p{Cc}]/u.test(name) && name !== '.' && name !== '..'
