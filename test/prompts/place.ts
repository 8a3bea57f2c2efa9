import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { formatDiagnostic } from '../../src/core/diagnostic.ts'
import { openProjectTexts } from '../../src/prompts/project-texts.ts'

/** A project, a user's home and a managed file in a folder of their own, gone when the test has finished. */
export function promptPlace(files: Readonly<Record<string, string>>, options: { readonly cwd?: string; readonly claude?: boolean; readonly on?: boolean } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-prompts-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'project')
  const put = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  mkdirSync(join(root, options.cwd ?? '.'), { recursive: true })
  for (const [path, text] of Object.entries(files)) put(path, text)
  const found: Diagnostic[] = []
  let now = 0
  const open = () => openProjectTexts({
    root,
    cwd: join(root, options.cwd ?? '.'),
    home: join(folder, 'user/.cadre'),
    userHome: join(folder, 'user'),
    managedFile: join(folder, 'managed/AGENTS.md'),
    claudeFolders: () => options.claude ?? true,
    instructionsOn: () => options.on ?? true,
    onDiagnostic: (diagnostic) => found.push(diagnostic),
    now: () => now,
  })
  return {
    folder,
    root,
    put,
    texts: open(),
    open,
    /** Lets half a second pass, after which files are looked at again. */
    later: () => void (now += 500),
    /** Findings so far, as lines with paths relative to the folder. */
    findings: () => found.map((diagnostic) => formatDiagnostic({ ...diagnostic, path: diagnostic.path.replace(`${folder}/`, '') })),
  }
}
