import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import type IsolatedVm from 'isolated-vm'
import type { Context, ExternalCopy, Isolate, Reference, Script } from 'isolated-vm'
import { messageOf } from '../../src/core/errors.ts'
import { PROGRAM_LIMITS } from '../../src/core/program-wire.ts'
import type { ProgramLimit, ProgramOutcome, ProgramStart } from '../../src/core/program.ts'
import type { GuestControl, GuestSettings } from './guest/prelude.ts'
import { prelude } from './guest/prelude.ts'

/** The name of the program in stack traces: how a line of the Markdown file is found in one. */
const PROGRAM = 'cadre:program'
const PRELUDE = 'cadre:prelude'
/** Compiled programs kept per process. */
const CACHED_PROGRAMS = 64
const ERROR_CHARS = 8_000
/** isolated-vm writes the place of a syntax error behind its message. */
const COMPILE_PLACE = / \[cadre:program:\d+:\d+\]$/

/** How far a program got: the JSON of a step, whether it ended, and whether its isolate may be left to an ordinary end. */
export type Progress = { readonly body: string; readonly over: boolean; readonly healthy: boolean }

/** One program in its isolate. It runs inside `advance` only, and that on a thread of its own, so that this process keeps listening. */
export type Guest = {
  begin(): Promise<Progress>
  resume(outcomes: readonly ProgramOutcome[], time: number): Promise<Progress>
  dispose(): void
}

type Prepared = {
  readonly isolate: Isolate
  readonly context: Context
  readonly boot: Reference<(settings: string) => GuestControl>
}
type Body = Reference<() => Promise<unknown>>
type Cache = ExternalCopy<ArrayBuffer> | undefined

/**
 * Makes guests, each in an isolate of its own that no other program ever sees (PRG-05). Loads isolated-vm from its folder, and throws when
 * it cannot be loaded. `prepare` builds the next isolate ahead of time: that is the larger part of a short program's cost.
 */
export function openIsolates(isolatedVm: string, heapMb: number): { prepare(): void; open(start: ProgramStart): Guest } {
  const ivm = createRequire(import.meta.url)(isolatedVm) as typeof IsolatedVm // by its folder, since this process may not look for it
  // So that cached code holds the functions inside it too: else each new isolate compiles the prelude's again, a fifth of a program's cost.
  setFlagsFromString('--no-lazy')
  const preludeCode = `'use strict';(${String(prelude)})`
  const programs = new Map<string, Cache>()
  let preludeCache: Cache
  let spare: Prepared | null = null

  function prepared(): Prepared {
    const isolate = new ivm.Isolate({ memoryLimit: heapMb })
    const context = isolate.createContextSync()
    const script = isolate.compileScriptSync(preludeCode, { filename: PRELUDE, ...cacheOption(preludeCache) })
    preludeCache ??= cacheOf(script)
    const boot = script.runSync(context, { reference: true }) as Prepared['boot'] // the reference to what our own prelude evaluates to
    return { isolate, context, boot }
  }

  /** The async function that is the program; its errors carry the lines of the Markdown file (PRG-06). Throws a SyntaxError. */
  function compile({ isolate, context }: Prepared, control: Reference<GuestControl>, { code, line }: ProgramStart): Body {
    const key = `${line}\n${code}`
    const options = { filename: PROGRAM, lineOffset: line - 2, ...cacheOption(programs.get(key)) }
    const script = isolate.compileScriptSync(`'use strict';(async function () {\n${code}\n})`, options)
    if (!programs.has(key)) {
      const isBody = control.getSync('isBody', { reference: true })
      if (!isBody.applySync(undefined, [code])) throw new SyntaxError('the program closes the function it runs in')
      if (programs.size >= CACHED_PROGRAMS) programs.clear()
      programs.set(key, cacheOf(script))
    }
    return script.runSync(context, { reference: true }) as Body // nothing but the function, after isBody
  }

  return {
    prepare() {
      spare ??= prepared()
    },
    open(start) {
      const own = spare ?? prepared()
      spare = null
      const { pendingCalls, logChars, jsonChars } = PROGRAM_LIMITS
      const settings: GuestSettings = { prompt: start.prompt, tools: start.tools, seed: start.seed, pendingCalls, logChars, jsonChars }
      const control = own.boot.applySync(undefined, [JSON.stringify(settings)], { result: { reference: true } })
      const advance = control.getSync('advance', { reference: true })
      const collect = control.getSync('collect', { reference: true })

      async function go(...values: Parameters<GuestControl['advance']> | readonly unknown[]): Promise<Progress> {
        try {
          await advance.apply(undefined, values as Parameters<GuestControl['advance']>)
          const body = collect.applySync(undefined, [])
          if (body.length > PROGRAM_LIMITS.answerChars) return stopped('memory')
          return { body, over: !body.startsWith('{"kind":"calls"'), healthy: !body.startsWith('{"kind":"limit"') }
        } catch (error) {
          return own.isolate.isDisposed ? stopped('heap') : failed('a rejected promise was never handled: ', error)
        }
      }

      return {
        async begin() {
          let body
          try {
            body = compile(own, control, start).derefInto()
          } catch (error) {
            return own.isolate.isDisposed ? stopped('heap') : failed('', error)
          }
          return go(start.time, body)
        },
        resume: (outcomes, time) => go(time, null, ...outcomes.flatMap(({ id, ok, text }) => [id, ok, text])),
        dispose() {
          if (!own.isolate.isDisposed) own.isolate.dispose()
        },
      }
    },
  }
}

const stopped = (limit: ProgramLimit): Progress => ({ body: JSON.stringify({ kind: 'limit', limit, log: '' }), over: true, healthy: false })

/** Code that cannot be compiled, or a rejection nobody handled: isolated-vm has made a copy of the error. The log of that slice is lost. */
function failed(what: string, error: unknown): Progress {
  const isError = error instanceof Error
  const name = isError && error.name !== 'Error' ? `${error.name}: ` : ''
  const stack = isError ? `${error.message}\n${error.stack ?? ''}` : ''
  const message = messageOf(error).slice(0, ERROR_CHARS).replace(COMPILE_PLACE, '')
  const step = { kind: 'error', message: `${what}${name}${message}`, stack: stack.slice(0, ERROR_CHARS), log: '' }
  return { body: JSON.stringify(step), over: true, healthy: true }
}

const cacheOption = (cache: Cache): { cachedData: ExternalCopy<ArrayBuffer> } | { produceCachedData: true } =>
  cache ? { cachedData: cache } : { produceCachedData: true }

/** Its types leave out what `produceCachedData` makes. */
const cacheOf = (script: Script & { cachedData?: ExternalCopy<ArrayBuffer> }): Cache => script.cachedData
