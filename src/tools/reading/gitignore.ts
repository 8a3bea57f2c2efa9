import { isLiteral, wildmatch } from './wildmatch.ts'

/** The rules of one .gitignore file. Paths are relative to its folder. */
export type Gitignore = {
  /** Whether the last rule that matches ignores the path or keeps it; undefined when none matches. Looks at this path only. */
  verdict(path: string, isFolder: boolean): boolean | undefined
}

type Rule = { readonly ignores: boolean; readonly folderOnly: boolean; matches(path: string, name: string): boolean }

/** Reads the rules of a .gitignore file as git does (gitignore(5)); null when it has none. */
export function parseGitignore(bytes: Buffer, ignoreCase: boolean): Gitignore | null {
  const lines = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '').split('\n')
  const rules = lines.flatMap((line) => parseRule(line, ignoreCase) ?? []).toReversed()
  if (rules.length === 0) return null
  return {
    verdict(path, isFolder) {
      const subject = inBytes(path)
      const name = subject.slice(subject.lastIndexOf('/') + 1)
      for (const rule of rules) {
        if ((isFolder || !rule.folderOnly) && rule.matches(subject, name)) return rule.ignores
      }
      return undefined
    },
  }
}

const inBytes = (path: string): string => (/^[\0-\x7f]*$/.test(path) ? path : Buffer.from(path).toString('latin1'))

function parseRule(line: string, ignoreCase: boolean): Rule | null {
  if (line.startsWith('#')) return null
  const text = trimSpaces(line.replace(/\r$/, ''))
  const ignores = !text.startsWith('!')
  const pattern = ignores ? text : text.slice(1)
  const folderOnly = pattern.endsWith('/')
  const body = folderOnly ? pattern.slice(0, -1) : pattern
  if (body === '') return null
  if (!body.includes('/')) {
    const test = tester(body, ignoreCase)
    return test && { ignores, folderOnly, matches: (_path, name) => test(name) }
  }
  const test = tester(body.replace(/^\//, ''), ignoreCase)
  return test && { ignores, folderOnly, matches: (path) => test(path) }
}

/** Spaces at the end do not count, unless a backslash stands before them. */
function trimSpaces(text: string): string {
  let end = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ' ') continue
    end = at + 1
  }
  return text.slice(0, end)
}

/** A test for one pattern, without a regular expression where most patterns need none. */
function tester(pattern: string, ignoreCase: boolean): ((subject: string) => boolean) | null {
  if (!ignoreCase && isLiteral(pattern)) return (subject) => subject === pattern
  const suffix = pattern.slice(1)
  if (!ignoreCase && pattern.startsWith('*') && isLiteral(suffix) && !suffix.includes('/')) {
    return (subject) => subject.endsWith(suffix) && !subject.includes('/')
  }
  const regex = wildmatch(pattern, ignoreCase)
  return regex && ((subject) => regex.test(subject))
}
