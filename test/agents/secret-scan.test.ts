import { afterAll, describe, expect, test } from 'vitest'

import type { Json } from '../../src/core/json.ts'
import { folderWith } from './folder.ts'
import { closePrograms, runProgram } from './harness.ts'

afterAll(closePrograms)

type Finding = { file: string; line: number; message: string; rule: string; severity: string; masked: string }
const scan = async (root: string, prompt: Json = ''): Promise<Finding[]> => ((await runProgram('secret-scan', root, prompt)).value as unknown as { findings: Finding[] }).findings

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Made up on the spot, so that no scanner finds a secret in this file. */
function made(length: number, alphabet: string = ALPHANUMERIC): string {
  let state = length * 7_919
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return alphabet[(state >>> 8) % alphabet.length]
  }).join('')
}
const UPPER = ALPHANUMERIC.slice(0, 26)
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const join = (...parts: readonly string[]): string => parts.join('')

const SECRETS: readonly [string, string, string?][] = [
  ['aws-access-key', join('AK', 'IA', made(16, `${UPPER}234567`))],
  ['github-token', join('gh', 'p_', made(36))],
  ['github-token', join('github', '_pat_', made(22), '_', made(59))],
  ['gitlab-token', join('gl', 'pat-', made(20))],
  ['slack-token', join('xo', 'xb-123456789012-1234567890123-', made(24))],
  ['slack-webhook', join('T0', made(8, UPPER), '/B0', made(8, UPPER), '/', made(24)), 'https://hooks.slack.com/services/'],
  ['google-api-key', join('AI', 'za', made(35))],
  ['google-oauth-secret', join('GOC', 'SPX-', made(28))],
  ['stripe-key', join('sk_', 'live_', made(24))],
  ['stripe-test-key', join('sk_', 'test_', made(24))],
  ['npm-token', join('np', 'm_', made(36))],
  ['npm-auth-token', made(40), '//registry.example.org/:_authToken='],
  ['anthropic-key', join('sk-', 'ant-api03-', made(93), 'AA')],
  ['openai-key', join('sk-', 'proj-', made(60))],
  ['openai-key', join('sk-', made(48))],
  ['hugging-face-token', join('h', 'f_', made(34))],
  ['sendgrid-key', join('S', 'G.', made(22), '.', made(43))],
  ['telegram-token', join('123456789', ':AA', made(33))],
  ['digitalocean-token', join('dop', '_v1_', made(64, '0123456789abcdef'))],
  ['jwt', join(base64url({ alg: 'HS256', typ: 'JWT' }), '.', base64url({ sub: 'u-88123', iat: 1_700_000_000 }), '.', made(43))],
  ['url-password', 'Gk38dkS0x', 'postgres://app:'],
]

describe('secret-scan: what it finds', () => {
  for (const [rule, secret, before = 'value '] of SECRETS) {
    test(`${rule}: ${secret.slice(0, 4)}…, masked, in running text and in a sweep`, async () => {
      const after = rule === 'url-password' ? '@db.prod.acme.io:5432/app' : ' end'
      const root = folderWith({ 'src/a.txt': `first line\n${before}${secret}${after}\n` })
      for (const prompt of ['', { items: [{ item: 'src/a.txt' }] }]) {
        const found = await scan(root, prompt)
        expect(found.map(({ file, line, rule: by }) => ({ file, line, rule: by }))).toEqual([{ file: 'src/a.txt', line: 2, rule }])
        expect(`${found[0]?.message} ${found[0]?.masked}`).not.toContain(secret.slice(0, 5))
        expect(JSON.stringify(found)).not.toContain(secret.slice(4))
        expect(found[0]?.masked).toBe(`${secret.slice(0, Math.min(4, Math.floor(secret.length / 3)))}…`)
      }
    })
  }

  const assigned: readonly [string, string, string][] = [
    ['a.ts', 'const apiKey = "<>"', made(32)],
    ['a.py', "client_secret: str = '<>'".replace(': str', ''), made(40)],
    ['a.json', '"access_token": "<>",', made(40)],
    ['a.ts', "  password: '<>',", 'Tr0ub4dor&3x'],
    ['a.go', 'dbPassword := `<>`', 'kd83ksLq0'],
    ['a.rb', ':secret_key => "<>"', made(24)],
    ['a.tf', 'aws_secret_access_key = "<>"', made(40, `${ALPHANUMERIC}/+`)],
    ['.env', 'DB_PASSWORD=<>', 'kf93kd02kf'],
    ['.env.production', 'export API_TOKEN=<>', made(32)],
    ['conf/app.yml', 'encryption_key: <>', made(32, '0123456789abcdef')],
    ['app.properties', 'spring.datasource.password=<>', 'x9$kLm2!qq'],
  ]
  for (const [file, line, secret] of assigned) {
    test(`a value that looks random, assigned in ${file}: ${line}`, async () => {
      const root = folderWith({ [file]: `${line.replace('<>', secret)}\n` })
      const found = await scan(root)
      expect(found.map(({ rule }) => rule)).toEqual(['assigned-secret'])
      expect(JSON.stringify(found)).not.toContain(secret)
    })
  }

  test('private keys with their data, of every kind and spelling', async () => {
    const data = `${made(64)}\n${made(64)}`
    const begin = (kind: string): string => join('-----BEGIN ', kind, 'PRIVATE KEY-----')
    const root = folderWith({
      'rsa.pem': `${begin('RSA ')}\n${data}\n-----END RSA PRIVATE KEY-----\n`,
      id_ed25519: `${begin('OPENSSH ')}\n${data}\n`,
      'old.key': `${begin('RSA ')}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${made(32, '0123456789ABCDEF')}\n\n${data}\n`,
      'account.json': `{"private_key": "${begin('')}\\n${data.replace('\n', '\\n')}\\n-----END PRIVATE KEY-----\\n"}`,
      'in-code.ts': `const k = '${begin('EC ')}' +\n  '${made(64)}' +\n  '${made(64)}'\n`,
    })
    expect((await scan(root)).map(({ file, rule, severity }) => [file, rule, severity]))
      .toEqual(['account.json', 'id_ed25519', 'in-code.ts', 'old.key', 'rsa.pem'].map((file) => [file, 'private-key', 'high']))
  })

  test('several in one long line, far from its beginning', async () => {
    const [one, two] = [join('gh', 'p_', made(36)), join('AI', 'za', made(35))]
    const root = folderWith({ 'app.min.js': `${'x=1;'.repeat(2_000)}"${one}"${';y=2'.repeat(2_000)};"${two}"${';z=3'.repeat(500)}` })
    expect((await scan(root)).map(({ rule }) => rule)).toEqual(['github-token', 'google-api-key'])
  })

  test('in tests and fixtures a key of a known format is of low severity, a value without one is left out', async () => {
    const root = folderWith({ 'test/a.ts': `const token = "${join('gh', 'p_', made(36))}"\nconst apiSecret = "${made(32)}"\n` })
    expect((await scan(root)).map(({ line, severity }) => [line, severity])).toEqual([[1, 'low']])
  })
})

describe('secret-scan: what it leaves alone', () => {
  const harmless: readonly [string, string][] = [
    ['a.ts', join('const id = "AKIA', 'IOSFODNN7EXAMPLE"')],
    ['a.ts', join('secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCY', 'EXAMPLEKEY"')],
    ['a.ts', 'const apiKey = process.env.API_KEY'],
    ['a.ts', 'const apiKey = "your-api-key-here-12345"'],
    ['a.ts', 'password: "password123"'],
    ['a.ts', 'const token = "550e8400-e29b-41d4-a716-446655440000"'],
    ['a.json', `"integrity": "sha512-${made(86)}=="`],
    ['package-lock.json', `"resolvedToken": "${made(40)}"`],
    ['a.ts', 'const secretName = "prod/db/main-2024"'],
    ['a.ts', 'tokenType: "Bearer-v2-token"'],
    ['a.ts', `cacheKey: "${made(32)}"`],
    ['a.ts', `publicKey = "${made(40)}"`],
    ['a.ts', `const key = "${made(32)}"`],
    ['a.md', '-----BEGIN RSA PRIVATE KEY-----\n... your key here ...\n-----END RSA PRIVATE KEY-----'],
    ['a.ts', 'if (text.includes("-----BEGIN PRIVATE KEY-----")) return parse(text)'],
    ['a.md', join('eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ', '.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c')],
    ['a.ts', 'postgres://user:password@localhost:5432/db'],
    ['a.ts', 'mongodb://user:pa55word1@example.com/x'],
    ['a.ts', 'amqp://app:Gk38dkS0x@rabbitmq:5672'],
    ['a.yml', 'password: ${{ secrets.DB_PASSWORD }}'],
    ['.env', 'DB_PASSWORD=${VAULT_DB_PASSWORD}'],
    ['.env', 'API_KEY=<put-your-key-here>'],
    ['a.ts', 'const accessToken = getToken("prod-2024-main")'],
    ['a.ts', "type: 'refresh_token', grant: 'client_credentials'"],
    ['a.ts', `const apiKey = "${made(32)}" // gitleaks:allow`],
    ['a.ts', join('gh', 'p_', 'x'.repeat(36))],
    ['a.ts', 'const apiKey = "0000000000000000000000000000"'],
    ['a.ts', 'passwordResetToken: "reset.password.token.label"'],
    ['a.html', '<input type="password" name="new-password-2" autocomplete="new-password">'],
    ['a.css', '.token.keyword-2024 { color: red }'],
    ['bin.dat', `\0${join('gh', 'p_', made(36))}`],
  ]
  for (const [file, line] of harmless) {
    test(`${file}: ${JSON.stringify(line.slice(0, 70))}`, async () => {
      expect(await scan(folderWith({ [file]: `${line}\n` }))).toEqual([])
    })
  }
})
