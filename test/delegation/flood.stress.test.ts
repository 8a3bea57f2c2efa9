import { expect, test } from 'vitest'
import { lab, ofType, parentAndChildren } from './lab.ts'

const PROGRAM = `---
name: hostile
description: does what its prompt says
model: script
tools: Read
---
\`\`\`js
if (prompt === 'map') { const m = new Map(); for (let i = 0; ; i += 1) m.set(i, { i }) }
const { text } = await tools.read({ path: 'a.txt' })
return text.split('\\n')[0]
\`\`\`
`

test('PRG-04, PRG-05: a Map that grows for ever fails alone, for its memory, and nine neighbours finish', async () => {
  const names = ['map', ...Array.from({ length: 9 }, (_, i) => `good ${i}`)]
  const { cadre, events } = await lab({
    files: { '.cadre/agents/hostile.md': PROGRAM },
    settings: { programs: { slice: 30, heapMb: 64 } },
    script: parentAndChildren(names.map((name) => ({ description: name, prompt: name, subagent_type: 'hostile' })), () => ({ text: 'never asked' })),
  })
  await cadre.run({ prompt: 'go' })
  const ends = Object.fromEntries(ofType(events, 'delegation.ended').map(({ data: { result } }) => [result.title, result]))
  const { map, ...good } = Object.fromEntries(names.map((name) => [name, ends[name]]))
  expect(map).toMatchObject({ status: 'failed', cause: 'program', error: expect.stringMatching(/^Program stopped: (heap|memory|process ended)\.$/) })
  for (const end of Object.values(good)) expect(end).toMatchObject({ status: 'completed', output: 'alpha', model: 'script', costUsd: 0 })
})
