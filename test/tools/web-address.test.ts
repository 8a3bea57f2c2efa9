import { expect, test } from 'vitest'
import { checkedHost } from '../../src/tools/web-fetch/checked-host.ts'
import { isPublicAddress, publicWeb } from '../../src/tools/web-fetch/public-web.ts'

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'loopback': ['127.0.0.1', '127.1.2.3', '127.255.255.254', '::1'],
  'unspecified': ['0.0.0.0', '0.1.2.3', '::'],
  'private': ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'link-local, where clouds hand out keys': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  'shared by carriers': ['100.64.0.1', '100.127.255.255'],
  'unique local': ['fc00::1', 'fd00:ec2::254', 'fdff::1'],
  'multicast and broadcast': ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  'reserved': ['192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '240.0.0.1', '2001:db8::1', '100::1', 'fec0::1'],
  'IPv4 inside IPv6': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:7f00:1::', '::ffff:0:127.0.0.1'],
  'no address': ['', 'localhost', '1.2.3', '127.1', '2130706433', '0x7f000001', 'x'],
}
for (const [kind, addresses] of Object.entries(REFUSED)) {
  for (const address of addresses) test(`TOO-09: ${address || '(empty)'} is refused: ${kind}`, () => expect(isPublicAddress(address)).toBe(false))
}

for (const address of ['1.1.1.1', '8.8.8.8', '93.184.216.34', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '169.253.0.1', '2606:4700:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8']) {
  test(`TOO-09: ${address} is of the public internet`, () => expect(isPublicAddress(address)).toBe(true))
}

for (const url of [
  'http://127.0.0.1', 'http://127.1', 'http://2130706433', 'http://0x7f.0.0.1', 'http://017700000001', 'http://0', 'http://[::1]', 'http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]',
  'http://[::]', 'http://169.254.169.254/latest/meta-data', 'http://１２７.０.０.１', 'http://localhost', 'http://LOCALHOST.', 'https://192.168.1.1:8443',
]) {
  test(`TOO-09: ${url} is refused, however it is written`, async () => {
    await expect(checkedHost(new URL(url), publicWeb)).rejects.toThrow(/is not on the public internet|No such host/)
  })
}

test('TOO-09: one private address among public ones is enough', async () => {
  const web = { ...publicWeb, lookup: () => Promise.resolve([{ address: '8.8.8.8', family: 4 }, { address: '10.0.0.1', family: 4 }]) }
  await expect(checkedHost(new URL('http://mixed.example'), web)).rejects.toThrow('mixed.example is not on the public internet (10.0.0.1)')
})

test('TOO-09: a host without addresses does not exist', async () => {
  await expect(checkedHost(new URL('http://none.example'), { ...publicWeb, lookup: () => Promise.resolve([]) })).rejects.toThrow('No such host: none.example')
  await expect(checkedHost(new URL('http://none.example'), { ...publicWeb, lookup: () => Promise.reject(new Error('ENOTFOUND')) })).rejects.toThrow('No such host: none.example')
})
