import { afterAll, describe, expect, test } from 'vitest'

import type { Json } from '../../src/core/json.ts'
import { folderWith } from './folder.ts'
import { closePrograms, runProgram } from './harness.ts'

afterAll(closePrograms)

type Links = { findings: { file: string; line: number; message: string; kind: string; target: string }[]; files: number; links: number; summary: string }
const check = async (files: Readonly<Record<string, string | Buffer>>, prompt: Json = ''): Promise<Links> => (await runProgram('doc-links', folderWith(files), prompt)).value as unknown as Links
const dead = async (text: string, others: Readonly<Record<string, string>> = {}): Promise<readonly string[]> =>
  (await check({ 'docs/a.md': text, ...others }, 'docs/a.md')).findings.map(({ line, target }) => `${line} ${target}`)

const AROUND = { 'README.md': '# Top\n', 'docs/b.md': '# Heading\n', 'docs/with space.md': '', 'docs/img/x.png': '', 'src/code.ts': 'x\n', 'docs/sub/README.md': '# In the folder\n', 'docs/(odd).md': '' }

describe('doc-links: what leads somewhere', () => {
  const alive: readonly [string, string][] = [
    ['a file beside it', '[x](b.md) [x](./b.md) [x](../docs/b.md)'],
    ['a folder', '[x](img) [x](img/) [x](..) [x](.)'],
    ['a path from the root', '[x](/README.md) [x](/docs/)'],
    ['a title', '[x](b.md "a title") [x](b.md \'t\') [x](b.md (t))'],
    ['a name with spaces, in every spelling', '[x](with%20space.md) [x](<with space.md>)'],
    ['brackets in a name', '[x]((odd).md) [x](\\(odd\\).md) [x](<(odd).md>)'],
    ['an image, and an image in a link', '![x](img/x.png) [![x](img/x.png)](b.md)'],
    ['an anchor of another file', '[x](b.md#heading) [x](b.md#Heading) [x](b.md#)'],
    ['the README of a folder', '[x](sub#in-the-folder)'],
    ['lines of a source file', '[x](../src/code.ts#L10) [x](../src/code.ts#L1-L20) [x](../src/code.ts#anything)'],
    ['a query', '[x](b.md?raw=true) [x](img/x.png?x=1#y)'],
    ['an address', '[x](https://x.y/z) <https://x.y> [x](mailto:a@b.c) [x](//x.y) [x](tel:1)'],
    ['a reference', '[x][one] [One][] [one]\n\n[one]: b.md "title"\n[two]: <with space.md>'],
    ['a reference in another case', '[x][FOO  bar]\n\n[foo bar]: b.md'],
    ['a footnote', 'x[^1]\n\n[^1]: gone.md is prose'],
    ['HTML', '<a href="b.md">x</a> <img src=\'img/x.png\'> <a href=b.md>'],
    ['an anchor in HTML', '<a name="here"></a>\n<h2 id="There">x</h2>\n\n[x](#here) [x](#there)'],
    ['pages of the forge', '[x](../../../issues/new) [x](../../../wiki)'],
    ['templates', '[x]({{ url }}) [x](${url}) [x](<%= url %>)'],
    ['the top', '# A\n\n[x](#) [x](#top)'],
    ['a link over two lines', '[a long\ntext](b.md)'],
    ['a bracket that is no link', 'a[0](gone) is a call in `a[0](gone)`'.replace('a[0](gone) is', 'a\\[0\\](gone) is')],
  ]
  for (const [name, text] of alive) {
    test(name, async () => {
      expect(await dead(`${text}\n`, AROUND)).toEqual([])
    })
  }

  const notLinks: readonly [string, string][] = [
    ['a code span', '`[x](gone.md)` and ``a ` [x](gone.md)``'],
    ['a fenced block', '```md\n[x](gone.md)\n```\n~~~\n[x](gone.md)\n```\n~~~'],
    ['a fence in a list and in a quote', '- item\n\n  ```\n  [x](gone.md)\n  ```\n\n> ```\n> [x](gone.md)\n> ```'],
    ['a longer fence', '````\n```\n[x](gone.md)\n```\n[x](gone.md)\n````'],
    ['an indented block', 'text\n\n    [x](gone.md)\n'],
    ['a comment', '<!-- [x](gone.md)\n[x](gone.md) -->'],
    ['HTML code', '<pre>\n[x](gone.md)\n</pre> <code>[x](gone.md)</code>'],
    ['frontmatter', '---\nlink: "[x](gone.md)"\n---\n'],
    ['an escaped bracket', '\\[x](gone.md)'],
    ['text that only looks like one', 'f(x)[y] and [x] (gone.md)'],
  ]
  for (const [name, text] of notLinks) {
    test(`nothing is looked up for ${name}`, async () => {
      expect(await dead(`${text}\n`)).toEqual([])
    })
  }
})

describe('doc-links: what leads nowhere', () => {
  const gone: readonly [string, string, readonly string[]][] = [
    ['a file', 'line\n[x](gone.md) and [y](b.md)\n![z](img/gone.png)', ['2 gone.md', '3 img/gone.png']],
    ['a name in another case', '[x](B.md)', ['1 B.md']],
    ['a file as a folder', '[x](b.md/) [x](b.md/x)', ['1 b.md/', '1 b.md/x']],
    ['an anchor', '# One\n\n[x](#one) [x](#two)\n[x](b.md#nope)', ['3 #two', '4 b.md#nope']],
    ['an anchor of a folder’s README', '[x](sub#nope) [x](img#x)', ['1 sub#nope', '1 img#x']],
    ['a path out of the root', '[x](../../elsewhere/x.md)', ['1 ../../elsewhere/x.md']],
    ['a definition of a reference', 'x\n\n[one]: gone.md\n[two]: <also gone.md>', ['3 gone.md', '4 also gone.md']],
    ['a reference nobody defined', '[x][nope] and [nope too][]', ['1 nope', '1 nope too']],
    ['HTML', 'a\n<img alt="x" src="gone.png">\n<a\n  href="gone.md">', ['2 gone.png', '3 gone.md']],
    ['an image in a link', '[![x](gone.png)](gone.md)', ['1 gone.png', '1 gone.md']],
    ['a link behind a fence that was closed', '```\n```\n[x](gone.md)', ['3 gone.md']],
    ['a link behind an open code span', 'a ` b\n\n[x](gone.md) ` c', ['3 gone.md']],
    ['a link in a list, a quote, a table and a heading', '- [x](g1.md)\n    - [x](g2.md)\n\n> [x](g3.md)\n\n| a |\n|---|\n| [x](g4.md) |\n\n## [x](g5.md)', ['1 g1.md', '2 g2.md', '4 g3.md', '8 g4.md', '10 g5.md']],
    ['an empty link', '[x]()', ['1 ']],
    ['a percent sign that is no code', '[x](100%.md)', ['1 100%.md']],
    ['Windows line ends', '\r\n[x](gone.md)\r\n', ['2 gone.md']],
  ]
  for (const [name, text, wanted] of gone) {
    test(name, async () => {
      expect((await dead(text, AROUND)).toSorted()).toEqual(wanted.toSorted())
    })
  }
})

describe('doc-links: anchors are those GitHub makes', () => {
  const headings: readonly [string, string][] = [
    ['# Hello World', 'hello-world'],
    ['## What is `foo_bar()`?', 'what-is-foo_bar'],
    ['## **Bold** and _italic_ and snake_case', 'bold-and-italic-and-snake_case'],
    ['## A & B / C -- D', 'a--b--c----d'],
    ['## Überschrift: größer!', 'überschrift-größer'],
    ['## 中文 标题', '中文-标题'],
    ['## 1.2.3 (2024-01-01)', '123-2024-01-01'],
    ['## [Link](a.md) text', 'link-text'],
    ['## <code>tag</code> text <br>', 'tag-text'],
    ['## Emoji 🎉 here', 'emoji--here'],
    ['## :rocket: Start', 'rocket-start'],
    ['## Trailing ##', 'trailing'],
    ['## C#', 'c'],
    ['Setext\n======', 'setext'],
    ['Setext two\n---', 'setext-two'],
    ['> ## In a quote', 'in-a-quote'],
    ['- # In a list', 'in-a-list'],
    ['## Escaped \\*stars\\*', 'escaped-stars'],
    ['## `code` with `--flag`', 'code-with---flag'],
    ['##   Spaces   inside', 'spaces---inside'],
    ['## snake_case_name and __init__', 'snake_case_name-and-init'],
  ]
  for (const [heading, anchor] of headings) {
    test(`${JSON.stringify(heading)} is #${anchor}`, async () => {
      expect(await dead(`${heading}\n\n[x](#${encodeURIComponent(anchor)}) [x](#${anchor}-no)\n`)).toEqual([`${heading.split('\n').length + 2} #${anchor}-no`])
    })
  }

  test('repeated headings are numbered, also past one that is named so', async () => {
    const text = '# A\n# A\n# A-1\n# A\n\n[x](#a) [x](#a-1) [x](#a-1-1) [x](#a-2) [x](#a-3)\n'
    expect(await dead(text)).toEqual(['6 #a-3'])
  })

  test('a heading in a code block or a comment is none, nor is a line of text without a space', async () => {
    expect(await dead('```\n# Code\n```\n<!--\n# Comment\n-->\n#NoSpace\n\n[x](#code) [x](#comment) [x](#nospace)\n')).toEqual(['9 #code', '9 #comment', '9 #nospace'])
  })
})

describe('doc-links: what it is asked', () => {
  const files = { 'README.md': '[x](gone.md)', 'docs/a.markdown': '[x](gone.md)', 'docs/bin.md': Buffer.from('\0'), 'src/x.ts': '[x](gone.md)', '.github/t.md': '[x](gone.md)', 'node_modules/p/r.md': '[x](gone.md)', '.gitignore': 'node_modules\n' }

  test('everything, a folder, a file, a sentence or the items of a sweep', async () => {
    for (const [prompt, wanted] of [['', ['.github/t.md', 'README.md', 'docs/a.markdown']], ['docs', ['docs/a.markdown']], ['README.md', ['README.md']], ['Check docs/a.markdown, please', ['docs/a.markdown']], [{ items: [{ item: 'README.md' }, { item: 'src/x.ts' }] }, ['README.md']], [{ items: [{ item: 'src/x.ts' }] }, []]] as const) {
      expect([prompt, (await check(files, prompt as Json)).findings.map(({ file }) => file)]).toEqual([prompt, wanted])
    }
    expect(await check(files, { items: [{ item: 'docs/bin.md' }] })).toMatchObject({ findings: [], leftOut: 1 })
    await expect(check(files, 'docs/bin.md')).rejects.toThrow(/docs\/bin\.md is binary/)
    await expect(check(files, 'nope.md')).rejects.toThrow(/No such file: nope\.md/)
  })

  test('a finding says what is missing', async () => {
    const { findings, summary, links } = await check({ 'a.md': '# T\n[x](gone.md)\n[y](#no)\n[z][w]\n' })
    expect(findings).toEqual([
      { file: 'a.md', line: 2, message: 'No such file: gone.md (link gone.md)', kind: 'file', target: 'gone.md' },
      { file: 'a.md', line: 3, message: 'No heading or anchor "no" in a.md (link #no)', kind: 'anchor', target: '#no' },
      { file: 'a.md', line: 4, message: 'No definition of the reference [w]', kind: 'reference', target: 'w' },
    ])
    expect([links, summary]).toEqual([2, '3 dead links among 2 in 1 file'])
  })
})
