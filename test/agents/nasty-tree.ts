import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** git in a folder, with nothing of the user's configuration, in a UTF-8 locale. */
export function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', [...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ann Author', GIT_AUTHOR_EMAIL: 'ann@example.com', GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z',
      GIT_COMMITTER_NAME: 'Ann Author', GIT_COMMITTER_EMAIL: 'ann@example.com', GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z',
    },
  })
}

const NEIGHBOURS = ['', ' ', '_', 'x', '9', '-', '.', 'é', 'ß', '中', '文', '：', '²', 'Ⅷ', '٣', '\u0301', '\u{1d538}', '😀', '\u00a0', '\u200b', '\t', '"', '\r', '\0']
const RAW = [[0xff], [0xe9], [0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f], [0xd7], [0xb5], [0xc0, 0x80], [0x00]].map((bytes) => Buffer.from(bytes))
const WORDS = ['TODO', 'FIXME', 'HACK', 'todo', 'TODOS', 'TODO:', 'HACKED', 'FIXMEé']

/** Deterministic dice. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** A repository of `count` files made to tell a careless search from git's: odd bytes, names, line ends, sizes, links, ignored and tracked files. */
export function nastyTree(root: string, count: number, seed = 7): void {
  const roll = dice(seed)
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T
  const put = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const word = (): Buffer => {
    const around = () => (roll(6) === 0 ? pick(RAW.slice(0, 9)) : Buffer.from(pick(NEIGHBOURS.slice(0, 22))))
    return Buffer.concat([Buffer.from('code '), around(), Buffer.from(pick(WORDS)), around(), Buffer.from(' more')])
  }
  git(root, 'init', '-q', '-b', 'main')
  for (let i = 0; i < count; i += 1) {
    const lines: Buffer[] = []
    for (let line = roll(30); line > 0; line -= 1) lines.push(roll(4) === 0 ? word() : Buffer.from(pick(['', 'plain text', '\t// nothing', 'x'.repeat(roll(900)), '\r'])))
    const end = Buffer.from(pick(['\n', '\n', '\n', '\r\n', '\r']))
    const body = lines.flatMap((line) => [line, end])
    if (roll(5) === 0) body.pop()
    if (roll(25) === 0) body.splice(roll(body.length + 1), 0, Buffer.from('\0'))
    const name = pick(['a', 'b c', 'ü', '日本', '-dash', '$x', "quo'te", 'new\nline', '[x]', '*', '.hidden', 'x;y', '{a,b}', '!not', '#hash'])
    put(`${pick(['src', 'lib/deep/er', 'with space', '.github/workflows', 'naïve', 'a-b', 'a'])}/${name}-${i}.${pick(['ts', 'md', 'txt', 'lock', 'c'])}`, Buffer.concat(body))
  }
  put('late-nul.txt', Buffer.concat([Buffer.from(`${'x'.repeat(70)}\n`.repeat(120)), Buffer.from('TODO after 8000 bytes\n\0\nHACK behind the NUL\n')]))
  put('early-nul.txt', Buffer.concat([Buffer.from('TODO before\n'), Buffer.from([0]), Buffer.from('\nTODO\n')]))
  put('utf16.txt', Buffer.from('\u{feff}TODO utf16\n', 'utf16le'))
  put('bom.txt', '\u{feff}TODO after a mark\nx\u{feff}TODO\n')
  put('one-line.min.js', `${'x=1;'.repeat(60_000)}/*TODO far out*/${'y=2;'.repeat(60_000)}`)
  put('large.log', `${'line of a log\n'.repeat(400_000)}TODO at the end\n${'more\n'.repeat(10)}HACK`)
  put('many.txt', 'TODO again\n'.repeat(700))
  put('empty.txt', '')
  put('.gitignore', 'ignored/\n*.tmp\n!keep.tmp\n')
  put('keep.tmp', 'TODO kept\n')
  git(root, 'add', '-A')
  put('ignored/tracked.txt', 'TODO tracked though ignored\n')
  put('forced.tmp', 'FIXME tracked though ignored\n')
  git(root, 'add', '-f', 'ignored/tracked.txt', 'forced.tmp')
  put('ignored/not.txt', 'TODO not to be found\n')
  put('other.tmp', 'TODO not to be found\n')
  symlinkSync('many.txt', join(root, 'link.txt'))
  symlinkSync('src', join(root, 'link-to-folder'))
  symlinkSync('nowhere', join(root, 'dangling'))
  git(root, 'add', 'link.txt', 'link-to-folder', 'dangling')
  git(root, 'commit', '-q', '-m', 'A tree')
  rmSync(join(root, 'empty.txt'))
  chmodSync(join(root, 'keep.tmp'), 0o755)
}

/** What `git grep -nE '\b(TODO|FIXME|HACK)\b'` prints for text files, as `path:line`, in order. */
export function gitGrepPlaces(root: string): readonly string[] {
  const out = git(root, 'grep', '-I', '-z', '-n', '-E', String.raw`\b(TODO|FIXME|HACK)\b`)
  return [...out.matchAll(/([^\0]*)\0(\d+)\0[^\n]*\n/g)].map(([, path, line]) => `${path}:${line}`).toSorted()
}
