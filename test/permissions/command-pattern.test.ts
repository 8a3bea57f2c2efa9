import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { commandAllowed, commandTouched } from '../../src/permissions/command-pattern.ts'

/** specifier, command, whether an allow rule lets it through. */
const ALLOWED: readonly (readonly [pattern: string, command: string, allowed: boolean])[] = [
  ['npm test', 'npm test', true],
  ['npm test', 'npm test --watch', false],
  ['npm test *', 'npm test', true],
  ['npm test *', 'npm test --watch a b', true],
  ['npm test *', 'npm tests', false],
  ['npm test:*', 'npm test', true],
  ['npm test:*', 'npm test -- x', true],
  ['npm test:*', 'npm test:evil', false],
  ['npm test*', 'npm tests', true],
  ['git * main', 'git push origin main', true],
  ['git * main', 'git push origin mainly', false],
  ['* --version', 'node --version', true],
  ['git commit -m *', 'git commit -m "fix: a; b && c"', true],
  ['git commit -m *', "git commit -m 'it costs $5 `really`'", true],
  ['npm test *', '  npm   test  x # a comment', true],
  ['npm test *', '"npm" \'test\' te\\st', true],
  ['npm test *', 'npm test && npm test x', true],
  ['npm test *', '(npm test; npm test x) || ! npm test', true],
  ['npm test *', 'npm test | npm test x', true],
  ['npm test *', 'if npm test; then npm test a; else npm test b; fi', true],
  ['npm test *', 'npm test 2>&1', true],
  ['npm test *', 'npm test > /dev/null 2> /dev/null', true],
  ['npm test *', 'npm test < input.txt', true],
  ['npm test *', 'npm test src/*.test.ts', true],
  ['npm test *', 'timeout 30 npm test x', true],
  ['npm test *', 'nohup timeout 2.5m npm test', true],
  ['CI=1 npm test *', 'CI=1 npm test x', true],

  ['npm test *', '', false],
  ['npm test *', '# nothing', false],
  ['npm test *', 'npm test; rm -rf /', false],
  ['npm test *', 'npm test && rm -rf /', false],
  ['npm test *', 'rm -rf / || npm test', false],
  ['npm test *', 'npm test | sh', false],
  ['npm test *', 'npm test & rm x', false],
  ['npm test *', 'npm test\nrm x', false],
  ['npm test *', 'npm test \\\n; rm x', false],
  ['npm test *', 'npm test $(rm x)', false],
  ['npm test *', 'npm test "$(rm x)"', false],
  ['npm test *', 'npm test `rm x`', false],
  ['npm test *', 'npm test <(rm x)', false],
  ['npm test *', 'npm test $X', false],
  ['npm test *', 'npm test "${X:-$(rm x)}"', false],
  ['npm test *', 'npm test $((1 + $(rm x)))', false],
  ['npm test *', 'npm test {a,b}', false],
  ['npm test *', "npm test $'\\x41'", false],
  ['npm test *', 'npm test > out.txt', false],
  ['npm test *', 'npm test >> ~/.bashrc', false],
  ['npm test *', 'npm test &> x', false],
  ['npm test *', 'npm test >& x', false],
  ['npm test *', 'npm test <> x', false],
  ['npm test *', 'npm test < /dev/tcp/example.com/80', false],
  ['npm test *', '{ npm test; } > .git/hooks/pre-commit', false],
  ['npm test *', 'npm test <<E\n$(rm x)\nE', false],
  ['npm test *', 'X=1 npm test', false],
  ['* --version', 'LD_PRELOAD=./evil.so node --version', false],
  ['npm test *', 'PATH=./evil:$PATH; npm test', false],
  ['npm test *', 'PATH=./evil; npm test', false],
  ['npm test *', 'npm() { rm x; }; npm test', false],
  ['npm test *', 'env npm test', false],
  ['npm test *', 'timeout -s KILL 3 npm test', false],
  ['npm test *', '"npm test"', false],
  ['npm test *', '"npm test" x', false],
  ['npm test *', 'npm "test x', false],
  ['npm test *', 'npm test )', false],
  ['npm test *', 'npm test; [[ -f x ]]', false],
  ['npm test *', 'for x in a; do npm test; done', false],
  ['npm test *', 'case a in a) npm test;; esac', false],
  ['npm test *', 'npm test\0x', false],
  ['*', 'anything at all', true],
  ['npm test *', '/tmp/npm test', false],
  ['npm.test', 'npmxtest', false],
  ['(npm|rm) *', 'rm x', false],
]

describe('GRA-04, PRM-03: an allow specifier lets a whole command through, or nothing of it', () => {
  for (const [pattern, command, allowed] of ALLOWED) {
    test(`${JSON.stringify(command)} is ${allowed ? 'let through' : 'not let through'} by ${pattern}`, () => {
      expect(commandAllowed([pattern], command)).toBe(allowed)
    })
  }

  test('each part may match a specifier of its own', () => {
    expect(commandAllowed(['npm test', 'git status'], 'npm test && git status')).toBe(true)
    expect(commandAllowed(['npm test'], 'npm test && git status')).toBe(false)
  })
})

/** Each hides `rm -rf x` from somebody who looks at the beginning only. */
const HIDDEN: readonly string[] = [
  'rm -rf x', '  rm -rf x', 'r\\m -rf x', '"rm" -rf x', "'r'm -rf x", '/bin/rm -rf x', '../../bin/rm -rf x', 'rm\t-rf x', 'rm \\\n -rf x',
  'true; rm -rf x', 'true && rm -rf x', 'true\nrm -rf x', 'true | rm -rf x', 'true & rm -rf x', '(rm -rf x)', '{ rm -rf x; }', '! rm -rf x', 'time rm -rf x',
  'echo $(rm -rf x)', 'echo "`rm -rf x`"', 'cat <(rm -rf x)', 'X=$(rm -rf x)', 'echo ${X:-$(rm -rf x)}', 'echo $((1 + $(rm -rf x)))', 'cat <<E\n$(rm -rf x)\nE', 'cat <<< "$(rm -rf x)"',
  'if true; then rm -rf x; fi', 'while rm -rf x; do :; done', 'for i in 1; do rm -rf x; done', 'case a in a) rm -rf x;; esac', 'f() { rm -rf x; }; f', '[[ -n $(rm -rf x) ]]',
  'X=1 rm -rf x', 'env rm -rf x', 'env -i A=b rm -rf x', 'command rm -rf x', 'exec rm -rf x', 'nohup rm -rf x', 'nice -n 5 rm -rf x', 'timeout -k 1 5 rm -rf x', 'sudo -u root rm -rf x',
  'sudo env nice rm -rf x', 'sh -c "rm -rf x"', 'bash -lc "true; rm -rf x"', 'sudo bash -c \'sh -c "rm -rf x"\'', 'eval "rm -rf x"', 'eval rm -rf x', 'su root -c "rm -rf x"', 'echo x | xargs rm -rf',
  'find . -exec rm -rf {} ;', 'busybox rm -rf x', 'setsid rm -rf x', 'coproc rm -rf x', 'trap "rm -rf x" EXIT', '> out rm -rf x', '$X', '$X -rf x', '"$(echo rm)" -rf x', 'r? -rf x', '{rm,-rf,x}', 'echo rm -rf x | sh',
  'sh <<< "rm -rf x"', 'bash <<E\nrm -rf x\nE', 'eval $X', 'sh -c "$X"', 'rm -rf "unterminated', 'env $X', 'xargs -I{} sh -c "rm -rf {}"', "$'rm' -rf x", '$"rm" -rf x', 'rm -$F x', 'rm\0', `echo ${'$('.repeat(300)}`,
]

describe('PRM-03: a specifier of a rule that forbids is found in whatever part could be it', () => {
  for (const command of HIDDEN) {
    test(`rm * is found in ${JSON.stringify(command.slice(0, 60))}`, () => {
      expect(commandTouched('rm *', command)).toBe(true)
      expect(commandAllowed(['echo *', 'true', 'cat *'], command)).toBe(false)
    })
  }

  for (const command of ['echo rm -rf x', 'git rm x', 'farm x', 'rmdir x', 'npm run rm', 'grep "rm -rf" a.ts', 'echo "$X"', 'cat *.ts', 'ls | wc -l', 'bash build.sh', 'git commit -m "rm x"', 'X=rm ls']) {
    test(`rm * is not found in ${command}`, () => {
      expect(commandTouched('rm *', command)).toBe(false)
    })
  }

  for (const [pattern, command] of [['npm run deploy:*', 'npm run deploy:prod'], ['npm run deploy:*', 'npm run deploy'], ['git push *', 'git $X'], ['X=1 *', 'A=2 X=1 ls'], ['git push', 'git push 2>&1']] as const) {
    test(`${pattern} is found in ${command}`, () => {
      expect(commandTouched(pattern, command)).toBe(true)
    })
  }

  test('a command made to be slow to read is read within its limits', () => {
    const many = 'env '.repeat(4_000)
    expect([commandTouched('rm *', many), commandTouched('zz *', 'sudo '.repeat(3_000)), commandTouched('*a*b*c*d', 'a'.repeat(9_000)), commandAllowed(['*a*b*c*d'], 'a'.repeat(9_000))]).toEqual([true, true, false, false])
  })
})

test('PRM-03: what an allow specifier lets through, the same specifier would forbid; and a longer command is never let through more', () => {
  const part = fc.constantFrom('npm test', 'npm test x', 'rm x', 'echo "a b"', 'X=1 npm test', 'npm test $X', 'timeout 3 npm test', '$(rm x)', 'a > b', 'npm "test"', 'sh -c "npm test"', 'cat < a')
  const joint = fc.constantFrom('; ', ' && ', ' | ', '\n', ' & ', ' || ', ' ')
  const command = fc.array(fc.tuple(part, joint), { minLength: 1, maxLength: 4 }).map((parts) => parts.flat().slice(0, -1).join(''))
  const more = fc.constantFrom('npm test', 'rm x', 'echo "a b"', 'npm test $X', 'X=1 npm test', '$(rm x)', 'a > b')
  const pattern = fc.constantFrom('npm test', 'npm test *', 'npm *', 'echo *', 'cat:*', '*', 'X=1 *', 'rm *')
  fc.assert(fc.property(pattern, command, more, (pattern, command, more) => {
    if (commandAllowed([pattern], command)) expect(commandTouched(pattern, command)).toBe(true)
    if (commandAllowed([pattern], `${command}; ${more}`)) expect(commandAllowed([pattern], more)).toBe(true)
  }), { numRuns: 2_000 })
})

test('PRM-03: no text at all makes reading a command throw', () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'ab $(){}[]|&;<>"\'`\\\n!*?=~-'.split('')), maxLength: 40 }), (command) => {
    const found = ['a', 'b'].some((pattern) => commandTouched(pattern, command))
    if (commandAllowed(['a', 'b'], command)) expect(found).toBe(true)
  }), { numRuns: 5_000 })
})
