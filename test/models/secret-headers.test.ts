import { expect, test } from 'vitest'
import { createModels } from '../../src/models/models.ts'

test('JRN-08: the value of every header that carries a key is known as a secret, whatever the header is called', () => {
  const headers = { 'Authorization': 'Bearer one-one-one', 'x-auth': 'two-two-two', 'X-Api-Key': 'three-three', 'cookie': 'four=four-four', 'user-agent': 'five-five-five' }
  const models = createModels({ providers: { own: { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', headers } }, env: {}, aliases: {} })
  expect(models.keys()).toEqual(expect.arrayContaining(['one-one-one', 'two-two-two', 'three-three', 'four=four-four']))
  expect(models.keys()).not.toContain('five-five-five')
  models.close()
})
