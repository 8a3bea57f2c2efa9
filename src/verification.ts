import { CadreError, messageOf } from './core/errors.ts'
import { narrow, noToolLeft } from './core/narrow.ts'
import { withoutNotices } from './core/notice.ts'
import { cutOutput } from './core/result-text.ts'
import { describeEnding } from './core/status.ts'
import type { Ending } from './core/status.ts'
import { titleOf } from './core/title.ts'
import { startAgent } from './delegate.ts'
import { readyAgent, turnOf } from './ready.ts'
import type { Ready } from './ready.ts'
import { reminder } from './host/mailbox.ts'
import { askedIn } from './prompts/environment.ts'
import type { Plan, Verification } from './run.ts'
import type { Services, Verifying } from './services.ts'
import { blocked } from './supervisor.ts'
import type { Agent } from './supervisor.ts'
import type { CommandEnd } from './verify/command.ts'
import { runCommand } from './verify/command.ts'
import { verifyRequest } from './verify/request.ts'
import type { Tree } from './verify/tree-hash.ts'
import { treeHash } from './verify/tree-hash.ts'
import type { VerifierVerdict } from './verify/verdict.ts'
import { verdictOf } from './verify/verdict.ts'

/** VER-06. */
const TITLE = 'Verify changes'

const TYPE = 'verifier'

/** What a reminder of a failed command is about, where one of a verifier's names the tree it judged. */
const COMMAND = 'verify.command'

/** What a reminder ends with. */
const MEND = 'Mend what is wrong, then answer again.'

/** A verifier of this run, or of an earlier one of the same agent: what it judged, and where its parent was. */
type Judge = { readonly id: string; readonly tree: string; readonly turn: number }

/** What it came to. `stated`: its report says so itself; else it is PARTIAL, and `reason` says why. */
type Judgement = { readonly verdict: VerifierVerdict; readonly stated: boolean; readonly reason: string; readonly report: string }

/** The plan of a root run, with its changes verified before it ends, if somebody says what they are (VER-01…06). */
export const verified = (services: Services, plan: Plan): Plan =>
  services.verification ? { ...plan, verification: verificationOf(services, services.verification, plan.agent) } : plan

function verificationOf(services: Services, { changedFiles, settings, env }: Verifying, agent: Agent): Verification {
  const { crew, journal } = services
  const { root } = agent.started.grant
  const self = agent.subject.agent
  let notes: string[] = []
  const told = (agent.restored?.told ?? []).filter(({ from }) => from === 'verifier').map(({ about }) => about)
  let command: Promise<unknown> = Promise.resolve()

  /** The run ends, and its result says this of its changes. */
  function end(note: string): true {
    notes.push(note.replaceAll(/\s+/g, ' ').trim())
    return true
  }

  /** The run goes on with this. */
  function goOn(text: string, about: string): false {
    told.push(about)
    agent.mailbox.owe(reminder({ text: withoutNotices(text), from: 'verifier' }, about))
    return false
  }

  /** A program reads nothing, and without a turn left nobody does. */
  const canGoOn = (): boolean => agent.model !== null && (agent.session?.turnsLeft() ?? 0) > 0

  /** Null: nobody knows, and the run ends with that. */
  async function look(): Promise<Tree | null> {
    try {
      return await treeHash(root, await changedFiles())
    } catch (error) {
      end(`Not verified: nobody knows which files were changed: ${messageOf(error)}`)
      return null
    }
  }

  /** Oldest first. What is journaled of them is all that counts, so that an interruption changes nothing. */
  const judges = (): readonly Judge[] => journal.children(self).flatMap(({ id, type }) => {
    const verifies = type === TYPE ? journal.started(id)?.verifies : undefined
    return verifies ? [{ id, ...verifies }] : []
  })

  const ofThisRun = ({ turn }: Judge): boolean => turn > (agent.restored?.turnsBefore ?? 0)

  function judgementOf({ id }: Judge): Judgement {
    const result = journal.result(id)
    if (!result) throw new CadreError('INVARIANT', `The result of ${id} is not in the journal`)
    const report = result.output
    const unstated = (reason: string): Judgement => ({ verdict: 'PARTIAL', stated: false, reason, report })
    if (!result.success) return unstated(`${id} ended ${describeEnding(result as Ending)}: ${result.error ?? ''}`)
    const verdict = verdictOf(report)
    if (verdict === null) return unstated(`the report of ${id} states no verdict`)
    return { verdict, stated: true, reason: `see the report of ${id}`, report }
  }

  /** The verdict on exactly these contents, if there is one: they are not verified again. */
  async function verdictOn({ hash }: Tree): Promise<boolean | null> {
    const all = judges()
    // One that was at work when an earlier process ended goes on by itself.
    for (const { id } of all) await crew.find(id)?.gone
    const judge = all.findLast(({ tree }) => tree === hash)
    if (!judge) return null
    const judgement = judgementOf(judge)
    return judgement.stated ? conclude(judge, judgement) : null
  }

  function conclude(judge: Judge, { verdict, reason, report }: Judgement): boolean {
    if (verdict === 'PASS') return end('Verified: PASS')
    if (verdict === 'PARTIAL') return end(`Verified: PARTIAL: ${reason}`)
    if (told.includes(judge.tree) || !ofThisRun(judge)) return end(`Verified: FAIL: nothing was changed after it; ${reason}`)
    if (!canGoOn()) return end(`Verified: FAIL: no turn was left to go on; ${reason}`)
    const found = cutOutput(report, judge.id, services.limits().resultChars)
    return goOn(`A verifier judged your changes: FAIL. Its report:\n${found}\n${MEND}`, judge.tree)
  }

  async function run(written: string): Promise<CommandEnd> {
    const running = runCommand(written, { root, env, signal: agent.signal })
    command = running.catch(() => undefined)
    return running
  }

  function failed(written: string, { ending, output }: CommandEnd, attempts: number): boolean {
    const before = told.filter((about) => about === COMMAND).length
    if (before >= attempts || !canGoOn()) return end(`Not verified: the verify command failed (${ending}): ${titleOf(written)}`)
    const wrote = output === '' ? 'It wrote nothing.' : `The end of its output:\n${output}`
    return goOn(`The verify command failed (${ending}): ${written}\n${wrote}\n${MEND}`, COMMAND)
  }

  async function verify(tree: Tree, before: Judge | undefined): Promise<boolean> {
    const verifies = { tree: tree.hash, turn: turnOf(agent) }
    const lastReport = before ? judgementOf(before).report : null
    let ready: Ready
    try {
      ready = await readyVerifier(services, agent, { tree, verifies, maxTurns: settings().maxTurns, lastReport })
    } catch (error) {
      return end(`Verified: PARTIAL: ${messageOf(error)}`)
    }
    // Nobody would end it any more.
    agent.signal.throwIfAborted()
    const { agent: verifier, ended } = startAgent(services, ready)
    await blocked(agent, () => ended)
    const judge = { id: verifier.subject.agent, ...verifies }
    return conclude(judge, judgementOf(judge))
  }

  async function isLast(): Promise<boolean> {
    let tree = await look()
    if (tree === null || tree.files.length === 0) return true
    const known = await verdictOn(tree)
    if (known !== null) return known
    const { command: written, threshold, maxAttempts } = settings()
    if (written !== null) {
      const ended = await run(written)
      if (!ended.ok) return failed(written, ended, maxAttempts)
      // It may have changed some itself.
      tree = await look()
    }
    if (tree === null || threshold === 0 || tree.files.length < threshold || maxAttempts === 0) return true
    const attempts = judges().filter(ofThisRun)
    const last = attempts.at(-1)
    if (!last || attempts.length < maxAttempts) return verify(tree, last)
    return end(`Verified: ${judgementOf(last).verdict}: what was changed after it was not verified again`)
  }

  return {
    isLast() {
      notes = []
      return isLast()
    },
    // A run that was stopped was not verified to its end.
    notes: () => (agent.signal.aborted ? [] : notes),
    settled: () => command,
  }
}

/** Decides all about a verifier. Throws for one that cannot be started: no tool left, no model. */
async function readyVerifier(services: Services, parent: Agent, { tree, verifies, maxTurns, lastReport }: {
  readonly tree: Tree
  readonly verifies: NonNullable<Ready['started']['verifies']>
  readonly maxTurns: number
  readonly lastReport: string | null
}): Promise<Ready> {
  const type = { ...services.types.verifier(), maxTurns }
  const narrowed = narrow(parent.started.grant, type, { readOnly: true })
  if (narrowed.grant.tools.length === 0) throw new CadreError('REFUSED', noToolLeft(type, parent.started.grant))
  return readyAgent(services, {
    subject: services.crew.newSubject(parent.subject),
    type,
    narrowed,
    title: TITLE,
    prompt: verifyRequest({
      asked: askedOf(services, parent),
      files: tree.files,
      gone: tree.gone,
      answer: parent.session?.progress().output ?? '',
      lastReport,
    }),
    environment: await services.environment.whole(),
    model: services.chooseModel({ call: null, type: type.model, parent: parent.model }),
    callId: null,
    inheritedEffort: parent.started.frozen.effort ?? null,
    verifies,
  })
}

/** All the user said, whatever of it the agent's own history still holds. */
function askedOf({ journal }: Services, { model, subject: { agent } }: Agent): readonly string[] {
  const said = journal.transcript(agent, { full: true })
    .flatMap((message) => (message.role === 'user' && message.synthetic === undefined ? [message.text] : []))
  return said.map((text, i) => (i === 0 && model !== null ? askedIn(text) : text))
}
