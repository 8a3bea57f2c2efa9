/** How a program's isolate is set up; crosses as JSON text. */
export type GuestSettings = {
  readonly prompt: string
  readonly tools: readonly string[]
  readonly seed: number
  readonly pendingCalls: number
  readonly logChars: number
  readonly jsonChars: number
}

/** The functions the process outside holds of a guest. Only plain strings, numbers and booleans go through them. */
export type GuestControl = {
  /** Whether code is a function body by itself, so that no bracket in it can close the function it is put into. Runs none of it. */
  isBody(code: string): boolean
  /** Sets the clock (ms since 1970), hands in outcomes (id, ok, text, id, …), starts the program when `body` is given. */
  advance(time: number, body: (() => Promise<unknown>) | null, ...outcomes: readonly (number | boolean | string)[]): void
  /** JSON text of what came of it since the last time. Runs no code of the program. */
  collect(): string
}

/**
 * The world a program wakes up in (PRG-02). The source text of this one function is what runs in the isolate, so it can use nothing outside
 * itself. It keeps the built-ins it needs from before the program can touch them; whatever crosses to the outside is made into a string
 * while the program runs, under the program's own limits: a getter, proxy or `toJSON` that never returns costs that program only.
 */
export function prelude(settingsText: string): GuestControl {
  const { parse, stringify } = JSON
  const { apply, construct, defineProperty, deleteProperty } = Reflect
  const { imul } = Math
  const { then } = Promise.prototype
  const { indexOf, slice } = String.prototype
  const NativeDate = Date
  const NativeError = Error
  const NativePromise = Promise
  const NativeTypeError = TypeError
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const text = String
  const settings = parse(settingsText) as GuestSettings

  /** Clocks (Intl formats "now"), threads, what depends on the collector, memory the heap limit does not see, a console nobody reads. */
  const GONE = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'Intl', 'Temporal', 'console']
  const GROWING = ['resize', 'transfer', 'transferToFixedLength']
  const MESSAGE_CHARS = 4_000
  const STACK_CHARS = 8_000
  const cut = (value: unknown, chars: number): string => apply(slice, text(value), [0, chars])

  let now = 0
  let state = settings.seed | 0
  let lastId = 0
  let waiting = 0
  let freshCalls = ''
  let logged = 0
  let log = ''
  let broken = ''
  let returned = ''
  let failed = ''

  type Slot = {
    readonly json: string
    readonly resolve: (value: unknown) => void
    readonly reject: (error: Error) => void
    readonly failure: Error
  }
  // Without a prototype, so that a program that rewrites Object.prototype cannot stand in for a slot or a tool.
  const slots = Object.create(null) as Record<number, Slot>
  const tools = Object.create(null) as Record<string, (input?: unknown) => Promise<unknown>>

  /** Runs once, before the program: what is not deterministic, or no use without a host, is not there. */
  function seal(): void {
    for (const name of GONE) deleteProperty(globalThis, name)
    for (const name of GROWING) deleteProperty(ArrayBuffer.prototype, name)
    const clock = new Proxy(NativeDate, {
      apply: () => text(new NativeDate(now)),
      construct: (target, args, newTarget): object => construct(target, args.length === 0 ? [now] : args, newTarget) as Date,
    })
    NativeDate.now = () => now
    NativeDate.prototype.constructor = clock
    defineProperty(globalThis, 'Date', { value: clock, writable: true, configurable: true })
    Math.random = random
    for (const name of settings.tools) tools[name] = (input: unknown = {}) => call(name, input)
    offer('tools', Object.freeze(tools))
    offer('prompt', settings.prompt)
    offer('input', parsed(settings.prompt, undefined))
    offer('log', write)
  }

  function offer(name: string, value: unknown): void {
    defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true })
  }

  /** A Weyl sequence through two rounds of multiply and shift: the same numbers for the same seed, on every machine. */
  function random(): number {
    state = (state + 0x9e3779b9) | 0
    let bits = imul(state ^ (state >>> 16), 0x21f0aaad)
    bits = imul(bits ^ (bits >>> 15), 0x735a2d97)
    return ((bits ^ (bits >>> 15)) >>> 0) / 0x1_0000_0000
  }

  function parsed(json: string, otherwise: unknown): unknown {
    try {
      return parse(json)
    } catch {
      return otherwise
    }
  }

  /** From here on the program is over, whatever it catches. */
  function stop(limit: string): never {
    broken ||= limit
    throw new NativeError(`Program stopped: ${limit}.`)
  }

  function write(...values: readonly unknown[]): void {
    let line = ''
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i]
      line += (i > 0 ? ' ' : '') + (typeof value === 'string' ? value : (stringify(value) ?? text(value)))
    }
    logged += line.length + 1
    if (logged > settings.logChars) stop('log')
    log += `${line}\n`
  }

  function call(tool: string, input: unknown): Promise<unknown> {
    const promise = new NativePromise<unknown>((resolve, reject) => {
      const json = stringify(input)
      if (json === undefined) throw new NativeTypeError(`the input of tools.${tool} is not JSON`)
      if (waiting >= settings.pendingCalls) stop('pending calls')
      const entry = `{"id":${lastId + 1},"tool":${stringify(tool)},"input":${json}}`
      if (freshCalls.length + entry.length > settings.jsonChars) {
        throw new NativeTypeError(`the inputs of one turn are over ${settings.jsonChars} characters (tools.${tool})`)
      }
      lastId += 1
      waiting += 1
      freshCalls += (freshCalls === '' ? '' : ',') + entry
      // Made here, so that its stack names the line of the call.
      slots[lastId] = { json: entry, resolve, reject, failure: new NativeError() }
    })
    // A call that failed and that nobody awaited is no fault of the program's.
    void apply(then, promise, [undefined, () => undefined])
    return promise
  }

  function settle(id: number, ok: boolean, outcome: string): void {
    const slot = slots[id]
    if (!slot) return
    deleteProperty(slots, id)
    waiting -= 1
    if (ok) return slot.resolve(parsed(outcome, outcome))
    defineProperty(slot.failure, 'message', { value: outcome, writable: true, configurable: true })
    slot.reject(slot.failure)
  }

  async function drive(body: () => Promise<unknown>): Promise<void> {
    try {
      const value = await body()
      returned = value === undefined ? '"kind":"done"' : `"kind":"done","value":${asJson(value)}`
    } catch (error) {
      failed = describe(error)
    }
  }

  function asJson(value: unknown): string {
    let json: string | undefined
    let why = `it is a ${typeof value}`
    try {
      json = stringify(value)
    } catch (error) {
      why = messageOf(error)
    }
    if (json === undefined) throw new NativeTypeError(`the program's return value is not JSON: ${why}`)
    if (json.length > settings.jsonChars) {
      throw new NativeTypeError(`the program's return value is over ${settings.jsonChars} characters: it has ${json.length}`)
    }
    return json
  }

  function messageOf(error: unknown): string {
    if (typeof error !== 'object' || error === null) return cut(error, MESSAGE_CHARS)
    const { name, message } = error as { readonly name?: unknown; readonly message?: unknown }
    if (message === undefined) return cut(stringify(error), MESSAGE_CHARS)
    return name === undefined || name === 'Error' ? cut(message, MESSAGE_CHARS) : cut(`${text(name)}: ${text(message)}`, MESSAGE_CHARS)
  }

  function describe(error: unknown): string {
    let message = 'an error that cannot be printed'
    let stack = ''
    try {
      message = messageOf(error)
      if (typeof error === 'object' && error !== null) stack = framesOf(text((error as { readonly stack?: unknown }).stack))
    } catch {
      // Whatever the thrown value did when it was read, it is described by the words above.
    }
    return `"kind":"error","message":${stringify(message)},"stack":${stringify(stack)}`
  }

  /** Without the message above them, which may be long and say anything. */
  function framesOf(stack: string): string {
    const first = apply(indexOf, stack, ['\n    at '])
    return first < 0 ? '' : apply(slice, stack, [first, first + STACK_CHARS])
  }

  function unanswered(): string {
    let list = ''
    for (const id in slots) list += (list === '' ? '' : ',') + (slots[id]?.json ?? '')
    return list
  }

  function progress(): string {
    if (broken !== '') return `"kind":"limit","limit":${stringify(broken)}`
    if (failed !== '') return failed
    if (returned !== '') return `${returned},"pending":[${unanswered()}]`
    if (waiting > 0) return `"kind":"calls","calls":[${freshCalls}]`
    return '"kind":"error","message":"the program waits for something that never comes","stack":""'
  }

  seal()
  return {
    isBody(code) {
      try {
        return new AsyncFunction(code) instanceof AsyncFunction
      } catch {
        return false
      }
    },
    advance(time, body, ...outcomes) {
      now = time
      for (let i = 0; i < outcomes.length; i += 3) settle(outcomes[i] as number, outcomes[i + 1] as boolean, outcomes[i + 2] as string)
      if (body) void drive(body)
    },
    collect() {
      const step = `{${progress()},"log":${stringify(log)}}`
      freshCalls = ''
      log = ''
      return step
    },
  }
}
