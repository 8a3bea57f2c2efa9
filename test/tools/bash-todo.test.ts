import { expect, test } from 'vitest'
import { bash } from '../../src/tools/bash.ts'
import type { Shell } from '../../src/tools/define-tool.ts'
import { createToolbox } from '../../src/tools/toolbox.ts'
import { todo } from '../../src/tools/todo.ts'
import { WRITING_TOOLS } from '../../src/tools/writing-tools.ts'
import { mainContext, outcome, say } from './main-side.ts'

function shellThat(answers: Awaited<ReturnType<Shell['run']>>) {
  const asked: unknown[] = []
  const context = mainContext({ root: '/', shell: { run: (command, options) => { asked.push([command, options]); return Promise.resolve(answers) } } })
  return { asked, context }
}

test('TOO-08: a command runs for as long as it asks for, or as the settings say', async () => {
  const { asked, context } = shellThat({ text: 'out\n[exit 0]', ok: true })
  expect(await say(bash, { command: 'ls' }, context)).toBe('out\n[exit 0]')
  await say(bash, { command: 'ls', timeout: 600, description: 'list the files' }, context)
  await say(bash, { command: 'ls', timeout: 0.5 }, context)
  expect(asked).toEqual([
    ['ls', { timeoutMs: null, description: null }],
    ['ls', { timeoutMs: 600_000, description: 'list the files' }],
    ['ls', { timeoutMs: 500, description: null }],
  ])
})

test('TOO-08: a command that fails is an answer that did not succeed, with its text as it is', async () => {
  const { context } = shellThat({ text: 'no such thing\n[exit 1]', ok: false })
  expect(await outcome(bash, { command: 'false' }, context)).toEqual({ text: 'no such thing\n[exit 1]', ok: false })
})

for (const [input, refusal] of [
  [{}, 'command is required (string)'],
  [{ command: ' \n' }, 'command: must not be empty'],
  [{ command: 'a\0b' }, 'command: must not hold a NUL character'],
  [{ command: 'ls', timeout: 601 }, 'timeout: Too big: expected number to be <=600'],
  [{ command: 'ls', timeout: 0 }, 'timeout: Too small: expected number to be >0'],
  [{ command: 'ls', timeout: '60' }, 'timeout: expected number, received string'],
] as const) {
  test(`TOO-08: ${JSON.stringify(input)} runs nothing`, async () => {
    const { asked, context } = shellThat({ text: '', ok: true })
    expect(await say(bash, input, context)).toBe(`Error: bash: ${refusal}`)
    expect(asked).toEqual([])
  })
}

test('TOO-11: a todo list replaces the one before', async () => {
  const lists: unknown[] = []
  const context = mainContext({ root: '/', todo: { replace: (items) => { lists.push(items); return Promise.resolve() } } })
  const items = [{ text: 'one', status: 'done' }, { text: 'two', status: 'in_progress' }, { text: 'three', status: 'pending' }, { text: 'four', status: 'pending' }]
  expect(await say(todo, { items }, context)).toBe('Your list: 2 pending, 1 in_progress, 1 done.')
  expect(await say(todo, { items: [] }, context)).toBe('Your list is empty now.')
  expect(lists).toEqual([items, []])
})

test('TOO-11: a todo list has at most 100 items, each with a text and a known status', async () => {
  const context = mainContext({ root: '/', todo: { replace: () => Promise.resolve() } })
  const item = { text: 'x', status: 'done' }
  expect(await say(todo, { items: Array.from({ length: 100 }, () => item) }, context)).toMatch(/^Your list/)
  expect(await say(todo, { items: Array.from({ length: 101 }, () => item) }, context)).toMatch(/^Error: todo: items: Too big/)
  expect(await say(todo, { items: [item, { text: ' ', status: 'done' }] }, context)).toMatch(/^Error: todo: items\.1\.text: /)
  expect(await say(todo, { items: [{ text: 'x', status: 'finished' }] }, context)).toMatch(/^Error: todo: items\.0\.status: .*pending/)
  expect(await say(todo, { items: 'one' }, context)).toMatch(/^Error: todo: items: expected array/)
})

test('GRA-03, GRA-07: agents for Claude Code find these tools by their names, and only those that change the workspace make a writer', () => {
  const toolbox = createToolbox(WRITING_TOOLS)
  for (const [foreign, ours] of [['Write', 'write'], ['Edit', 'edit'], ['MultiEdit', 'edit'], ['Bash', 'bash'], ['WebFetch', 'web_fetch'], ['TodoWrite', 'todo']] as const) {
    expect(toolbox.find(foreign)?.name).toBe(ours)
  }
  expect(Object.fromEntries(toolbox.facts.map(({ name, effect }) => [name, effect])))
    .toEqual({ write: 'write', edit: 'write', bash: 'execute', web_fetch: 'network', memory: 'read', todo: 'read' })
})

test('JRN-04: what was interrupted is run again only where that changes nothing', () => {
  expect(WRITING_TOOLS.filter(({ repeatable }) => repeatable).map(({ name }) => name)).toEqual(['web_fetch', 'todo'])
})
