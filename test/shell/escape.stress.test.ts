import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openShell } from '../../src/shell/open-shell.ts'
import type { Shell } from '../../src/shell/open-shell.ts'
import { shellText } from '../../src/shell/shell-text.ts'
import type { TestPlace } from './place.ts'
import { confinedShell, createPlace, git, grantOf, hashOf, skipped } from './place.ts'

const limits = { timeoutMs: 30_000, signal: new AbortController().signal }
const run = async (shell: Shell, command: string): Promise<string> => shellText(await shell.run(command, limits))

/** What no agent in the worktree `own` may change: the main checkout, the other worktree, the home, and of the own worktree what leads git. */
const kept = ({ main, home, other, own, commonDir, worktree: { gitDir } }: TestPlace): string => hashOf(
  home, other, join(own, '.git'), join(main, '.claude'), ...['a.txt', 'package.json', '.gitignore', '.envrc', 'f', 'p'].map((name) => join(main, name)),
  ...['config', 'config.worktree', 'hooks', 'info', 'HEAD', 'index', 'commondir', 'packed-refs', 'modules', 'refs/heads/main', 'logs/refs/heads/main', 'logs/HEAD',
    'objects/info', 'worktrees/other'].map((name) => join(commonDir, name)),
  ...['commondir', 'gitdir', 'config.worktree', 'modules'].map((name) => join(gitDir, name)),
)

const names = ({ home, main, other, commonDir, worktree: { gitDir } }: TestPlace) =>
  ({ HOME: home, MAIN: main, OTHER: other, GIT: commonDir, OWN: gitDir, TARGET: join(main, 'f') })

/** Each row alone is to change nothing of that. */
const FROM_A_WORKTREE = [
  'echo x > $MAIN/f',
  'echo x >> $MAIN/a.txt',
  'echo x >| ../../../a.txt',
  'cat > $MAIN/f <<EOF\nx\nEOF',
  'printf x | tee $MAIN/f',
  'cp a.txt $MAIN/f; mv a.txt $MAIN/p; git checkout -q a.txt',
  'rm -rf $MAIN/a.txt $MAIN/.git/hooks',
  'echo $MAIN/a.txt | xargs rm -f',
  'find $MAIN -maxdepth 1 -name a.txt -delete',
  'sed -i s/a/b/ $MAIN/a.txt',
  'dd if=/dev/zero of=$MAIN/f count=1',
  'truncate -s 0 $MAIN/a.txt',
  'chmod 777 $MAIN/a.txt; chmod +x $GIT/hooks/*',
  'ln -s $MAIN l; echo x > l/f; rm l',
  'ln $MAIN/a.txt hard; echo x > hard; rm -f hard',
  'echo x > /proc/self/root$MAIN/f',
  'echo x > /proc/1/root$MAIN/f',
  'cd $MAIN && for p in /proc/[0-9]*; do echo x > $p/cwd/f; done',
  'python3 -c "open(\'$MAIN/f\', \'w\').write(\'x\')"',
  'node -e "fs.writeFileSync(process.env.TARGET, \'x\')"',
  'npm run --silent plant',
  'git -C $MAIN commit -q --allow-empty -m x',
  'git -C $MAIN reset -q --hard; git -C $MAIN checkout -q cadre/own; git -C $MAIN stash',
  'echo x >> a.txt; git --git-dir=$GIT --work-tree=$MAIN add .; git checkout -q a.txt',
  'GIT_DIR=$GIT GIT_WORK_TREE=$MAIN git commit -qam x',
  'GIT_INDEX_FILE=$GIT/index git add .',
  'GIT_COMMON_DIR=$GIT git config core.hooksPath /tmp/h',
  'git config core.fsmonitor "touch /tmp/x"',
  'git config --worktree core.fsmonitor "touch /tmp/x"; git config extensions.worktreeConfig true',
  'git config -f $GIT/config core.sshCommand x; echo "[alias]" >> $GIT/config',
  'echo "[core]" > $OWN/config.worktree; mv /tmp/x $OWN/config.worktree',
  'echo "exit 0" > $GIT/hooks/post-commit; chmod +x $GIT/hooks/post-commit',
  'rm -rf $GIT/hooks; mkdir $GIT/hooks; mv $GIT/hooks $GIT/h',
  'mv $GIT $MAIN/git; mv $MAIN/.git $MAIN/g',
  'echo "* filter=x" > $GIT/info/attributes; echo a.txt > $GIT/info/exclude',
  'echo /tmp > $OWN/commondir; rm -f $OWN/commondir; mv $OWN/commondir $OWN/c',
  'echo /tmp/.git > $OWN/gitdir; ln -sf /tmp $OWN/gitdir',
  'mkdir -p /tmp/e && cp -r $OWN/. /tmp/e; mv $OWN $GIT/worktrees/e; rm -rf $OWN/*dir',
  'echo "gitdir: /tmp/e" > .git; rm -f .git; mv .git g; ln -sf /tmp/e .git',
  'mkdir -p $GIT/objects/info; echo /tmp > $GIT/objects/info/alternates',
  'git update-ref refs/heads/main $(git commit-tree HEAD^{tree} -m x); git branch -f main HEAD~0; git push -q . +cadre/own:main',
  'git symbolic-ref HEAD refs/heads/main; git commit -q --allow-empty -m x; git symbolic-ref HEAD refs/heads/cadre/own',
  'ln -sf $HOME/.gitconfig $GIT/logs/refs/heads/main; rm -f $GIT/logs/refs/heads/main',
  'ln -sf $HOME/.gitconfig $OWN/logs/HEAD; rm -f $OWN/logs/HEAD; test ! -L $OWN/logs/HEAD',
  'git pack-refs --all --prune; echo x > $GIT/packed-refs',
  'mkdir -p $GIT/modules/x/hooks $OWN/modules/x/hooks',
  'echo x > $OTHER/a.txt; rm -rf $OTHER; echo x > $GIT/worktrees/other/HEAD',
  'git -C $OTHER commit -q --allow-empty -m x; git worktree remove --force $OTHER',
  'git worktree add -q $MAIN/p; git worktree add -q $OTHER/p; git worktree prune --expire now',
  'mkdir -p $MAIN/.claude && echo "{}" > $MAIN/.claude/settings.json',
  'echo x > $HOME/.ssh/authorized_keys; echo x >> $HOME/.bashrc; git config --global core.editor x',
  '(sleep 0.2; echo x > $MAIN/f) & true',
  'setsid sh -c "sleep 0.2; echo x > $MAIN/f" > /dev/null 2>&1 & true',
  'nohup sh -c "echo x > $MAIN/f" > /dev/null 2>&1; (sh -c "echo x > $MAIN/f" &)',
  'mount -o remount,rw $MAIN; mount --bind . $MAIN; umount $MAIN $GIT $OWN/commondir; echo x > $MAIN/f',
  'unshare -Urm sh -c "mount -o remount,rw,bind $MAIN; umount -l $MAIN; mkdir -p /tmp/v; mount --bind . /tmp/v; echo x > $MAIN/f; echo x > /tmp/v/.git"',
  'unshare -Urm sh -c "mkdir -p /tmp/v; mount --bind $OWN /tmp/v; echo x > /tmp/v/commondir; echo x > /tmp/v/config.worktree"',
  'nsenter -t 1 -m sh -c "echo x > $MAIN/f"; chroot /proc/1/root sh -c "echo x > $MAIN/f"',
  'bwrap --bind / / sh -c "echo x > $MAIN/f"',
  'mknod /tmp/d b $(stat -c "%Hd %Ld" $MAIN) && dd if=/dev/zero of=/tmp/d count=1',
  'cd $MAIN && git apply <<EOF\ndiff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\nEOF',
  'tar cf - a.txt | tar xf - -C $MAIN/.git/hooks; rsync -a a.txt $MAIN/f; install a.txt $MAIN/p',
]

/** Each row once more finds everything as it was, the temp folder apart. */
const FROM_AN_EXPLORER = [
  'echo x > f', 'echo x >> a.txt', 'echo x >| a.txt', ': > a.txt', '> f', 'cat > f <<EOF\nx\nEOF', 'printf x | tee f', 'tee -a a.txt < package.json',
  'cp a.txt f', 'mv a.txt f', 'rm -f a.txt', 'unlink a.txt', 'ln a.txt f', 'ln -s a.txt f', 'mkdir f', 'mkfifo f', 'touch a.txt', 'truncate -s 0 a.txt', 'dd if=/dev/zero of=f count=1',
  'sed -i s/a/b/ a.txt', 'perl -i -pe s/a/b/ a.txt', 'awk \'BEGIN { print "x" > "f" }\'', 'install a.txt f', 'chmod 777 a.txt', 'chown 1 a.txt', 'python3 -c "open(\'f\', \'w\')"', 'node -e "fs.writeFileSync(\'f\', \'x\')"',
  'npm run --silent plant', 'xargs touch <<EOF\nf\nEOF', 'find . -name a.txt -delete', 'find . -name a.txt -exec rm {} +', 'git add .; git commit -q --allow-empty -m x', 'git checkout -q -b x; git stash; git tag x',
  'git config core.editor x', 'git init -q f', 'git gc -q --prune=now', 'tar cf f a.txt', 'echo x | sponge f; split -n 1 a.txt f', 'bash -c "exec 3> f"', 'sh -c "echo x > /proc/self/cwd/f"', 'echo x > /proc/1/cwd/f', 'cd .git/hooks && echo x > post-commit',
  'mkdir .claude .cadre/x', '(setsid sh -c "echo x > f" &)', 'sort -o a.txt a.txt', 'ed -s a.txt <<EOF\nd\nw\nEOF', 'sqlite3 f "create table x(y)"', 'unshare -Urm sh -c "mount -o remount,rw,bind .; echo x > f"',
  'ln -s $PWD/a.txt /tmp/l; echo x > /tmp/l', 'echo x > $HOME/f',
]

describe.skipIf(skipped !== null)(`SHL-01, 02, 03: what no spelling gets out of a confined bash${skipped === null ? '' : ` (${skipped})`}`, () => {
  describe('an agent in a worktree', () => {
    let place: TestPlace
    let shell: Shell
    beforeAll(async () => {
      place = createPlace()
      shell = confinedShell(place, grantOf(place.own, [['bash', 'execute']]), { ...place.place, git: place.worktree }, names(place))
      // What protects a place that is empty is there from the first call on.
      await run(shell, 'true')
    })
    afterAll(async () => {
      await shell.close()
      place.remove()
    })

    test('can read, edit, run programs and commit', async () => {
      const before = kept(place)
      expect(await run(shell, 'cat a.txt $MAIN/a.txt && npm test --silent && node -e "fs.writeFileSync(process.env.TMPDIR + \'/t\', \'\')" && ls $TMPDIR/t')).toMatch(/^a\na\n42\n\/tmp\/t\n\[exit 0\]$/)
      expect(await run(shell, 'echo mine > b.txt && git add b.txt && git commit -qm second && git status --short && git log --format=%s')).toBe('second\nfirst\n[exit 0]')
      expect(git(place.main, 'log', '--format=%s', 'cadre/own')).toBe('second\nfirst')
      expect(git(place.main, 'reflog', 'cadre/own')).toContain('second')
      expect(await run(shell, 'git checkout -qb cadre/more && echo more > c.txt && git add . && git commit -qm third && git checkout -q cadre/own && git rebase -q cadre/more && git log --format=%s -1')).toBe('third\n[exit 0]')
      expect(kept(place)).toBe(before)
    })

    test.each(FROM_A_WORKTREE)('changes nothing of the others by `%s`', async (attempt) => {
      const before = kept(place)
      await run(shell, attempt)
      if (attempt.includes('sleep')) await delay(400)
      expect(kept(place)).toBe(before)
    })

    test('after all of that it can still commit, and nothing of it is a link', async () => {
      expect(await run(shell, 'git checkout -qf cadre/own && echo last > d.txt && git add d.txt && git commit -qm last && test ! -L $OWN/logs/HEAD')).toBe('[exit 0]')
      expect(git(place.main, 'log', '-1', '--format=%s', 'cadre/own')).toBe('last')
    })

    test('sees no key', async () => {
      const seen = await run(shell, 'ls -A $HOME/.ssh $HOME/.cadre; cat $HOME/.ssh/id_rsa $HOME/.npmrc; grep -r PRIVATE $HOME /proc/*/environ; ls /run /var/run/')
      expect(seen).not.toMatch(/PRIVATE (?:KEY|TOKEN)/)
      expect(seen).toContain('id_rsa: No such file')
    })
  })

  describe('an explorer', () => {
    let place: TestPlace
    let shell: Shell
    beforeAll(() => {
      place = createPlace()
      shell = confinedShell(place, grantOf(place.main, [['bash', 'read'], ['web_fetch', 'network']]), place.place, names(place))
    })
    afterAll(async () => {
      await shell.close()
      place.remove()
    })

    test.each(FROM_AN_EXPLORER)('writes nothing by `%s`', async (attempt) => {
      const before = hashOf(place.main, place.home)
      await run(shell, attempt)
      expect(hashOf(place.main, place.home)).toBe(before)
    })

    test('reads everything but keys, and writes to its temp folder', async () => {
      expect(await run(shell, 'git log --format=%s && grep -c a a.txt && echo x > $TMPDIR/x && cat /tmp/x')).toBe('first\n1\nx\n[exit 0]')
      expect(readFileSync(join(place.tmp, 'x'), 'utf8')).toBe('x\n')
    })

    test('reaches no server and no socket of this machine', async () => {
      const tcp = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
      const unix = createServer((socket) => socket.end('reached')).listen(`/run/cadre-test-${process.pid}`)
      try {
        await Promise.all([once(tcp, 'listening'), once(unix, 'listening')])
        const { port } = tcp.address() as { port: number }
        const connect = (to: string) => `node -e "net.connect(${to}).on('data', (d) => console.log(d + '')).on('error', (e) => console.log(e.code))"`
        expect(await run(shell, connect(`${port}, '127.0.0.1'`))).toBe('ECONNREFUSED\n[exit 0]')
        expect(await run(shell, connect(`'/run/cadre-test-${process.pid}'`))).toBe('ENOENT\n[exit 0]')
      } finally {
        tcp.close()
        unix.close()
      }
    })
  })

  describe('a writer in the main checkout', () => {
    let place: TestPlace
    beforeAll(() => {
      place = createPlace()
    })
    afterAll(() => place.remove())
    const led = ({ main, home }: TestPlace): string => hashOf(home, ...['config', 'hooks', 'info', 'worktrees/own', 'objects/info'].map((name) => join(main, '.git', name)))

    test('edits and commits, and changes nothing that leads git; what was put for that is gone at the end', async () => {
      const { main } = place
      const before = led(place)
      const shell = confinedShell(place, grantOf(main, [['bash', 'execute']]), place.place, names(place))
      expect(await run(shell, 'echo b > b.txt && git add . && git commit -qm second && git status --short && git log --format=%s')).toBe('second\nfirst\n[exit 0]')
      for (const attempt of [
        'echo x > .git/hooks/pre-commit', 'mv .git g', 'rm -rf .git/hooks .git/config', 'git config core.pager x', 'echo /tmp > .git/commondir', 'rm -f .git/commondir', 'echo x > .git/config.worktree',
        'mkdir -p .claude/agents', 'echo x > .claude/settings.json', 'mv .claude c', 'rmdir .claude', 'ln -s /tmp .claude', 'echo x > .cadre/settings.json', 'mkdir .git/modules/x', 'echo x > .git/info/attributes',
        'unshare -Urm sh -c "mkdir /tmp/v; mount --bind $PWD/.git /tmp/v; echo x > /tmp/v/hooks/pre-commit"',
      ]) {
        expect(await run(shell, attempt), attempt).not.toContain('[exit 0]')
        expect(led(place), attempt).toBe(before)
      }
      await shell.close()
      for (const name of ['.claude', '.git/commondir', '.git/config.worktree', '.git/modules']) expect(existsSync(join(main, name)), name).toBe(false)
      expect(git(main, 'status', '--short')).toBe('')
    })

    test('a missing folder of hooks cannot be made', async () => {
      const { main } = place
      const hooks = join(main, '.git/hooks')
      rmSync(hooks, { recursive: true, force: true })
      const shell = confinedShell(place, grantOf(main, [['bash', 'execute']]), place.place)
      expect(await run(shell, 'mkdir -p .git/hooks && echo "exit 0" > .git/hooks/post-commit')).toContain('Read-only file system')
      expect(await run(shell, 'rmdir .git/hooks; mv .git/hooks .git/h; git init -q; ls -A .git/hooks')).toMatch(/Read-only file system\n\[exit 0\]$/)
      await shell.close()
      expect(existsSync(hooks)).toBe(false)
    })
  })

  test('the table can fail: without a sandbox its attempts do change something', async () => {
    const place = createPlace()
    const shell = openShell({ confined: null, root: place.own, env: { PATH: process.env['PATH'], ...names(place) }, passed: Object.keys(names(place)), tmp: place.tmp })
    try {
      for (const attempt of ['echo x > $MAIN/f', 'git config core.fsmonitor "touch /tmp/x"', 'echo "exit 0" > $GIT/hooks/post-commit', 'echo x > $OTHER/a.txt', 'echo /tmp > $OWN/commondir']) {
        expect(FROM_A_WORKTREE.some((row) => row.startsWith(attempt)), attempt).toBe(true)
        const before = kept(place)
        await run(shell, attempt)
        expect(kept(place), attempt).not.toBe(before)
      }
    } finally {
      await shell.close()
      place.remove()
    }
  })

  test('a link where something must be protected is refused, with what to do', async () => {
    const place = createPlace()
    const shell = confinedShell(place, grantOf(place.main, [['bash', 'execute']]), place.place)
    try {
      symlinkSync(place.home, join(place.main, '.claude'))
      await expect(shell.run('true', limits)).rejects.toThrow(/\.claude leads to .*, and a link cannot be protected\. Put the real file/)
    } finally {
      await shell.close()
      place.remove()
    }
  })
})
