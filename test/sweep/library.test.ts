import { describe, expect, test } from 'vitest'
import type { SweepRequest } from '../../src/api.ts'
import { lab } from '../delegation/lab.ts'

describe('CMD-05 a sweep from code', () => {
  test('needs no more than what to sweep over and who works on it', async () => {
    const { cadre } = await lab({ files: { 'a.ts': '// TODO: one\n', 'b.ts': '' } })
    expect(await cadre.sweep({ over: '*.ts', agent: 'todo-audit' })).toMatchObject({
      status: 'completed', total: 2, completed: 2, runs: 2, findings: { total: 1 }, files: { results: null, report: null, sarif: null },
    })
  })

  const wrong: readonly (readonly [given: object, said: string])[] = [
    [{}, 'over is missing; it must be a text.'],
    [{ over: '*.ts', prompt: 7 }, 'prompt is of type number; it must be a text.'],
    [{ over: '*.ts', batch: 0 }, 'batch is 0; it must be a whole number, at least 1.'],
    [{ over: '*.ts', parallel: '2' }, 'parallel is 2; it must be a whole number, at least 1.'],
  ]
  test('a wrong value is a usage error that names the field, and leaves no session behind', async () => {
    const { cadre, events } = await lab({ files: { 'a.ts': '' } })
    for (const [given, message] of wrong) {
      await expect(cadre.sweep({ agent: 'todo-audit', ...given } as SweepRequest)).rejects.toMatchObject({ code: 'USAGE', message })
    }
    expect(events.filter(({ type }) => type === 'session.started')).toEqual([])
  })
})
