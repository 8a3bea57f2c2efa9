import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'

import { commandAllowed, commandTouched } from '../../src/permissions/command-pattern.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cadre-bash-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const programs = join(folder, 'programs')
mkdirSync(programs)
for (const name of ['a', 'b', 'x']) {
  writeFileSync(join(programs, name), `#!/bin/sh\nread -r line < /dev/null\necho ${name} >> "$LOG"\necho x\n`)
  chmodSync(join(programs, name), 0o755)
}

/** What bash really runs and writes for a text. The only programs it can find are `a`, `b` and `x`, which log their names and print `x`. */
function truth(command: string): { readonly ran: readonly string[]; readonly wrote: readonly string[] } {
  const cwd = mkdtempSync(join(folder, 'cwd-'))
  const log = `${cwd}.log` // of this run only: what an earlier one left in the background may still write to its own
  spawnSync('/bin/bash', ['-c', command], { cwd, env: { PATH: programs, LOG: log }, timeout: 2_000, killSignal: 'SIGKILL', stdio: 'ignore' })
  const wrote = readdirSync(cwd)
  rmSync(cwd, { recursive: true, force: true })
  return { ran: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [], wrote }
}

const token = fc.constantFrom(
  'a', 'b', 'x', 'a', 'b', ' ', ' ', ' x', 'x ', ' a', '$(x)', '`x`', '$(', ')', '`', ';', '&&', '||', '|', '&', '\n', '"', '\'', '\\', '(', '{ ', '; }', '<', '>', '>>', '<<<', '<(x)', '$', '$\'', '#', '!', 'eval ', 'exec ', 'command ',
  'if ', '; then ', '; fi', '<<E\n', '\nE\n', '2>&1', '=', '{a,x}', '*', '?', '[x]', '~', '$a', '${a:-x}', '$((1))', 'f() ', 'f', 'while ', '; do ', '; done', ' /dev/null', 'time ', '\t', '\r', '\u00A0', '\\x78', '\\\n', 'bash -c ', 'trap ', ' EXIT',
)
const commands = fc.array(token, { minLength: 1, maxLength: 7 }).map((tokens) => tokens.join(''))

test('PRM-03: of what an allow specifier lets through, bash runs nothing else and writes nothing', () => {
  let seen = 0
  fc.assert(fc.property(commands, (command) => {
    if (!commandAllowed(['a *', 'b'], command)) return
    seen += 1
    const { ran, wrote } = truth(command)
    expect([command, ran.filter((name) => name === 'x'), wrote]).toEqual([command, [], []])
  }), { numRuns: 20_000 })
  expect(seen).toBeGreaterThan(100)
})

test('PRM-03: what bash really runs is found by a specifier that forbids it', () => {
  let seen = 0
  fc.assert(fc.property(commands, (command) => {
    if (!command.includes('x')) return // nothing in it could become the name
    const { ran } = truth(command)
    if (!ran.includes('x')) return
    seen += 1
    expect([command, commandTouched('x *', command)]).toEqual([command, true])
  }), { numRuns: 2_000 })
  expect(seen).toBeGreaterThan(50)
})
