import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { lab, ofType } from '../delegation/lab.ts'
import type { Script } from '../server/provider-server.ts'
import { cast, openStage, turns } from './stage.ts'

const code = (text: string, more: JsonObject = {}) => ({ calls: [{ name: 'run_code', input: { code: text, ...more } }] })
/** Runs this, and answers with what came of it. */
const running = (text: string, more: JsonObject = {}): Script => (request) =>
  (request.turn === 1 ? code(text, more) : { text: request.toolResults[0]?.text ?? '' })

describe('PRG-03: run_code runs a program over the tools its agent holds', () => {
  test('many calls are one turn, each is journaled, and the value comes back as JSON with the log', async () => {
    const { cadre, events, server } = await lab({
      files: { 'a.txt': 'one\n', 'b.txt': 'two\n' },
      script: running("const texts = await Promise.all(['a.txt', 'b.txt'].map((path) => tools.read({ path }))); log('read', texts.length); return { lines: texts }"),
    })
    const result = await cadre.run({ prompt: 'go' })
    expect(result).toMatchObject({ status: 'completed', turns: 2, toolCalls: 1 })
    expect(server.requests).toHaveLength(2)
    expect(result.output).toMatch(/^\{"lines":.*\}\nLog:\nread 2$/)
    for (const word of ['one', 'two']) expect(result.output).toContain(word)
    const [outer, ...inner] = ofType(events, 'tool.started').map(({ data }) => data.call)
    expect(inner.map(({ id, name }) => [id, name])).toEqual([[`${outer?.id}/1`, 'read'], [`${outer?.id}/2`, 'read']])
    expect(ofType(events, 'tool.ended').map(({ data }) => data.outcome.ok)).toEqual([true, true, true])
    // What its parent's model is shown of it later is the one call.
    expect(JSON.stringify(cadre.journal.transcript(result.agentId))).not.toContain(`${outer?.id}/1`)
  })

  test('it starts sub-agents where its agent may, and waits for them', async () => {
    const { cadre, events } = await lab({
      script: cast({
        go: running("const results = await Promise.all([1, 2, 3].map((n) => tools.agent({ description: `part ${n}`, prompt: `Be part ${n}.`, subagent_type: 'explorer' }))); return results.map((text) => /Output:\\n(.*)/s.exec(text)[1])"),
        'Be part 1.': turns({ text: 'first' }), 'Be part 2.': turns({ text: 'second' }), 'Be part 3.': turns({ text: 'third' }),
      }),
    })
    expect((await cadre.run({ prompt: 'go' })).output).toBe('["first","second","third"]')
    expect(ofType(events, 'delegation.ended').filter(({ depth }) => depth === 1)).toHaveLength(3)
  })

  test('a call its agent may not make throws inside it, whatever it is called', async () => {
    const { cadre } = await lab({
      files: { '.cadre/agents/lister.md': '---\nname: lister\ndescription: lists\ntools: LS, run_code\n---\nYou list.\n' },
      script: running("const said = []; for (const name of ['read', 'agent', 'run_code', 'bash']) { try { await tools[name]({ path: 'a.txt', code: '1' }); said.push('ran') } catch (error) { said.push(error.message) } } return said"),
    })
    const { output } = await cadre.run({ prompt: 'go', agent: 'lister' })
    expect(output).not.toContain('ran')
    expect(JSON.parse(output)).toHaveLength(4)
  })

  for (const [what, text, said] of [
    ['throws', "const text = await tools.read({ path: 'gone.txt' })\nreturn text", /^Error: line 1: .*No such file: gone\.txt/],
    ['cannot be parsed', 'return (', /^Error: line \d: .*Unexpected token/],
    ['runs for ever', 'log("before"); for (;;) {}', /^Error: Program stopped: running time\.$/],
    ['makes calls without end', 'for (let n = 0; n < 300; n += 1) tools.ls({})\nawait new Promise(() => {})', /^Error: Program stopped: pending calls\./],
    ['returns before its calls are answered', "tools.ls({}); return 'early'", /^"early"\nNote: Calls still pending when the program returned were cancelled: ls \{\}$/],
    ['returns nothing', 'log("only this")', /^null\nLog:\nonly this$/],
    ['returns too much', "return 'x'.repeat(40_000)", /^"x{29999}\n\[10002 more characters: return less\]$/],
  ] as const) {
    test(`one that ${what} says so, and its agent goes on (PRG-04, PRG-06)`, async () => {
      const { cadre } = await lab({ script: running(text), settings: { programs: { slice: 1 } } })
      const result = await cadre.run({ prompt: 'go' })
      expect(result.status).toBe('completed')
      expect(result.output).toMatch(said)
    })
  }

  test('it has its own time limit, which ends it between calls', async () => {
    const { cadre } = await lab({ script: running('for (;;) await tools.ls({})', { timeout: 0.5 }) })
    expect((await cadre.run({ prompt: 'go' })).output).toBe('Error: Program stopped: it ran for 0.5 s.')
  })

  test('the time it waits for sub-agents is theirs', async () => {
    const { cadre } = await lab({
      script: cast({
        go: running("return await tools.agent({ description: 'slow', prompt: 'Be slow.', subagent_type: 'explorer' })", { timeout: 0.3 }),
        async 'Be slow.'() {
          await new Promise((resolve) => setTimeout(resolve, 1_000))
          return { text: 'at last' }
        },
      }),
    })
    expect((await cadre.run({ prompt: 'go' })).output).toContain('at last')
  })

  test('one that was running when its process died is in doubt, and not run again (JRN-04)', async () => {
    const stage = await openStage({ script: running("await tools.ls({}); await tools.ls({}); return 'ran'") })
    await stage.die(({ type, data }) => type === 'tool.ended' && data.outcome.tool === 'ls', (cadre) => cadre.run({ prompt: 'go' }))
    const { cadre } = await stage.open()
    const { output } = await cadre.resume({ session: cadre.journal.sessions()[0]?.id ?? '' })
    expect(output).toBe('Error: Outcome unknown: the process ended during this call. Check the state before you repeat it.')
  })
})
