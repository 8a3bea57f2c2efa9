import { describe, expect, test } from 'vitest'
import { bubblewrapArgv } from '../../sandbox/shell/bubblewrap.ts'
import { policyOf } from '../../sandbox/shell/policy.ts'
import type { ShellPlace } from '../../sandbox/shell/policy.ts'
import { resolveRules } from '../../sandbox/shell/resolve-rules.ts'
import { seatbeltProfile } from '../../sandbox/shell/seatbelt.ts'
import type { Effect } from '../../src/core/contract.ts'
import { grantOf } from './place.ts'

const PLACE: ShellPlace = { home: '/home/me', tmp: '/tmp/agent', runtimeDir: '/run/user/1', hidden: ['/home/me/p/.env'], git: 'own' }
const ROOT = '/home/me/p'
const there = (path: string) => ({ real: path, folder: !/config$|commondir$|\.env$/.test(path) })

const BASH: readonly [string, Effect] = ['bash', 'execute']
const FETCH: readonly [string, Effect] = ['web_fetch', 'network']

describe('SHL-01, 02, GRA-06: what a policy allows follows from the grant alone', () => {
  for (const { title, tools, mode, writes, network } of [
    { title: 'bash with execute effect writes to the root', tools: [BASH], writes: true, network: false },
    { title: 'with a network tool it has the network', tools: [BASH, FETCH], writes: true, network: true },
    { title: 'the bash of an explorer writes nothing and has no network', tools: [['bash', 'read'], FETCH], writes: false, network: false },
    { title: 'another tool that executes gives bash nothing', tools: [['bash', 'read'], ['run_code', 'execute'], ['write', 'write']], writes: false, network: false },
    { title: 'no bash, no right', tools: [FETCH], writes: false, network: false },
    { title: 'in mode plan nothing is written', tools: [BASH, FETCH], mode: 'plan', writes: false, network: false },
  ] as const) {
    test(title, () => {
      const policy = policyOf(grantOf(ROOT, tools, mode ? { mode } : {}), PLACE)
      expect(policy.network).toBe(network)
      expect(policy.rules.some(({ access }) => access === 'write' || access === 'scratch')).toBe(writes)
      // Nothing is put into a root that may not be written.
      expect(policy.rules.some(({ placeholder }) => placeholder !== 'nothing')).toBe(writes)
      expect(bubblewrapArgv(policy, there, ['true']).includes('--unshare-net')).toBe(!network)
    })
  }
})

const rulesAt = (policy: ReturnType<typeof policyOf>, path: string) => resolveRules(policy, there).findLast((rule) => `${path}/`.startsWith(`${rule.path}/`))?.access ?? 'read'

for (const [path, access] of [
  [ROOT, 'write'], [`${ROOT}/src`, 'write'], [`${ROOT}/.git/index`, 'write'], [`${ROOT}/.git/config`, 'read'], [`${ROOT}/.git/hooks/x`, 'read'], [`${ROOT}/.git/commondir`, 'read'], [`${ROOT}/.claude`, 'read'],
  [`${ROOT}/.cadre/x`, 'read'], [`${ROOT}/.env`, 'none'], ['/home/me/.ssh/id', 'none'], ['/home/me/.cadre/journal', 'none'], ['/home/me/q', 'read'], ['/run/docker.sock', 'none'], ['/etc/passwd', 'read'], ['/etc/shadow', 'none'],
] as const) {
  test(`SHL-01: a writer of ${ROOT} may ${access === 'none' ? 'not see' : access} ${path}`, () => {
    expect(rulesAt(policyOf(grantOf(ROOT, [BASH]), PLACE), path)).toBe(access)
  })
}

test('a root in a hidden folder can be used, and the folder stays hidden', () => {
  const policy = policyOf(grantOf('/home/me/.cadre/w', [BASH]), { ...PLACE, git: 'none' })
  expect(rulesAt(policy, '/home/me/.cadre/w/a')).toBe('write')
  expect(rulesAt(policy, '/home/me/.cadre/journal')).toBe('none')
})

test('a home that is the root gives no key away, also where none is yet', () => {
  const policy = policyOf(grantOf('/home/me', [BASH]), PLACE)
  expect(rulesAt(policy, '/home/me/.ssh/authorized_keys')).toBe('none')
  expect(policy.rules.find(({ path }) => path === '/home/me/.ssh')?.placeholder).toBe('folder')
})

test('a further folder of the grant that holds the keys does not show them', () => {
  expect(rulesAt(policyOf(grantOf(ROOT, [BASH], { paths: ['/home/me'] }), PLACE), '/home/me/.ssh/id')).toBe('none')
})

test('keys behind a link are hidden where they are, also below a folder that is shown', () => {
  const policy = policyOf(grantOf(ROOT, [BASH], { paths: ['/data'] }), PLACE)
  const look = (path: string) => (path === '/home/me/.ssh' ? { real: '/data/x/keys', folder: true } : there(path))
  const argv = bubblewrapArgv(policy, look, ['true']).join(' ')
  expect(argv.indexOf('--tmpfs /data/x/keys')).toBeGreaterThan(argv.indexOf('--ro-bind /data /data'))
})

test('names of hosts are there with the network, wherever they are kept', () => {
  const look = (path: string) => (path === '/etc/resolv.conf' ? { real: '/run/resolve/stub.conf', folder: false } : there(path))
  const argvOf = (tools: Parameters<typeof grantOf>[1]) => bubblewrapArgv(policyOf(grantOf(ROOT, tools), PLACE), look, []).join(' ')
  expect(argvOf([BASH, FETCH])).toContain('--ro-bind /run/resolve/stub.conf /run/resolve/stub.conf')
  expect(argvOf([BASH])).not.toContain('stub.conf')
})

test('the profile for Seatbelt says the same: the deeper rule comes later, nothing fixed can be moved away', () => {
  const profile = seatbeltProfile(policyOf(grantOf(ROOT, [BASH]), PLACE), there)
  const at = (line: string) => {
    expect(profile).toContain(line)
    return profile.indexOf(line)
  }
  const order = [
    '(deny file-write*)\n', `(allow file-read* file-write* (subpath "${ROOT}"))`, `(allow file-read* file-write* (subpath "${ROOT}/.git"))`, `(deny file-write* (subpath "${ROOT}/.git/hooks"))`, `(deny file-write-unlink (literal "${ROOT}/.git"))`,
  ].map(at)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  at('(deny network*)')
  at('(deny file-read* file-write* (subpath "/home/me/.ssh"))')
  at(`(deny file-read* file-write* (subpath "${ROOT}/.env"))`)
  expect(seatbeltProfile(policyOf(grantOf('/a"b', [BASH]), PLACE), there)).toContain('(subpath "/a\\"b")')
  expect(seatbeltProfile(policyOf(grantOf(ROOT, [['bash', 'read']]), PLACE), there)).not.toContain(`(allow file-read* file-write* (subpath "${ROOT}`)
})
