import { join } from 'node:path'
import { foldersDown, shownPath } from './folders.ts'
import type { TextFiles } from './text-files.ts'

/** Where project texts are looked for. All paths absolute, `root` a real one. */
export type PromptPlace = {
  readonly root: string
  /** Where the user stands. */
  readonly cwd: string
  /** `$CADRE_HOME` or `~/.cadre`, and the folder that holds the user's `.claude`. */
  readonly home: string
  readonly userHome: string
  /** Whether `.claude` folders count (SCO-04), as it is now. */
  claudeFolders(): boolean
}

const MANAGED_FILE = '/etc/cadre/AGENTS.md'
const NAMES = ['AGENTS.md', 'CLAUDE.md']

/**
 * PRO-03: the instructions that stand around a project, each text once under a heading that names its file: those of each folder from the root
 * down to the cwd, the user's, and the managed ones. `managedOnly`: what `omitClaudeMd` and `instructions: false` leave. Unchanged files give
 * equal bytes (MOD-07); without any the text is empty.
 */
export function openInstructions(place: PromptPlace & { readonly files: TextFiles; readonly managedFile?: string }): (managedOnly: boolean) => string {
  const { root, cwd, home, userHome, files } = place
  const managed = { path: place.managedFile ?? MANAGED_FILE, within: null, whose: 'Instructions for everyone on this machine' }
  const project = foldersDown(root, cwd).flatMap((folder) => NAMES.map((name) => ({ path: join(folder, name), within: root, whose: 'Project instructions' })))
  const whose = 'Instructions of the user'
  const own = [{ path: join(home, 'AGENTS.md'), within: null, whose }]
  const claude = [{ path: join(userHome, '.claude', 'CLAUDE.md'), within: null, whose }]

  return (managedOnly) => {
    const sources = managedOnly ? [managed] : [...project, ...own, ...(place.claudeFolders() ? claude : []), managed]
    const texts = new Map<string, string>()
    for (const { path, within, whose } of sources) {
      const { text } = files.read(path, within)
      if (text && !texts.has(text)) texts.set(text, `# ${whose}: ${shownPath(path, root, userHome)}`)
    }
    return [...texts].map(([text, heading]) => `${heading}\n${text}`).join('\n\n')
  }
}
