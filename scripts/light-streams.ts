/**
 * What stands for the web streams in the build: as much of them as the provider packages use to read a reply. Theirs is a chain of six streams
 * for each model call, and Node's own cost it more than all else (a fifth of a fan-out). These hand on all that is there at once, and read on
 * only when asked for more, so a slow reader still slows down the sender. Of one reader, one `read` at a time.
 */

/** Gives the next pieces, at least one; null at the end, over and over. What it rejects with is the error of the stream, which has no more then. */
type Pull<T> = () => Promise<readonly T[] | null>
type Cancel = (reason?: unknown) => Promise<void>

/** `pullAll` instead of `pull`: our own, for many pieces in one step. */
type Source<T> = { pull?(controller: Controller<T>): void | Promise<void>; readonly pullAll?: Pull<T>; readonly cancel?: Cancel }
type Transformer<In, Out> = {
  start?(controller: Controller<Out>): void
  transform(piece: In, controller: Controller<Out>): void | Promise<void>
  flush?(controller: Controller<Out>): void | Promise<void>
}

/** Where a source or transformer puts its pieces. What came before an error is given first. */
class Controller<T> {
  #pieces: T[] = []
  #ended = false
  #failure: { readonly error: unknown } | null = null

  enqueue(piece: T): void {
    this.#pieces.push(piece)
  }

  close(): void {
    this.#ended = true
  }

  terminate(): void {
    this.#ended = true
  }

  error(error: unknown): void {
    this.#failure ??= { error }
  }

  get over(): boolean {
    return this.#ended || this.#failure !== null
  }

  /** The pieces there are; asks `more` for some as often as it must. */
  async take(more: () => void | Promise<void>): Promise<readonly T[] | null> {
    while (this.#pieces.length === 0) {
      if (this.#failure) throw this.#failure.error
      if (this.#ended) return null
      try {
        await more()
      } catch (error) {
        this.error(error)
      }
    }
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }
}

/** For `ReadableStream`. Takes a source that is pulled, as those of language models are. */
export class LightReadable<T> {
  readonly #pull: Pull<T>
  readonly #cancel: Cancel
  #pieces: readonly T[] | null = []
  #at = 0

  constructor({ pull, pullAll, cancel }: Source<T>) {
    if (!pull && !pullAll) throw new TypeError('The build of Cadre has streams that are pulled only.')
    const controller = new Controller<T>()
    this.#pull = pullAll ?? (() => controller.take(() => pull?.(controller)))
    this.#cancel = async (reason) => {
      if (!controller.over) await cancel?.(reason)
    }
  }

  getReader() {
    return {
      read: async () => {
        if (this.#pieces && this.#at === this.#pieces.length) {
          this.#at = 0
          this.#pieces = []
          this.#pieces = await this.#pull()
        }
        return this.#pieces ? { done: false, value: this.#pieces[this.#at++] } : { done: true, value: undefined }
      },
      cancel: (reason?: unknown) => {
        this.#pieces = null
        return this.#cancel(reason)
      },
      releaseLock: () => {},
    }
  }

  pipeThrough<Out>({ through }: LightTransform<T, Out>): LightReadable<Out> {
    return through(this.#pull, this.#cancel)
  }

  /** Two readers of the same pieces; one that is given up needs no more of them. */
  tee(): readonly [LightReadable<T>, LightReadable<T>] {
    const branches: [T[] | null, T[] | null] = [[], []]
    const seen = { ended: false }
    let under: Promise<void> | null = null
    const more = async () => {
      try {
        const pieces = await this.#pull()
        seen.ended = pieces === null
        for (const branch of branches) for (const piece of pieces ?? []) branch?.push(piece)
      } finally {
        under = null
      }
    }
    const branch = (own: 0 | 1) => new LightReadable<T>({
      async pullAll() {
        while (branches[own]?.length === 0 && !seen.ended) await (under ??= more())
        const pieces = branches[own]
        if (!pieces?.length) return null
        branches[own] = []
        return pieces
      },
      cancel: async (reason) => {
        branches[own] = null
        if (branches.every((pieces) => pieces === null)) await this.#cancel(reason)
      },
    })
    return [branch(0), branch(1)]
  }
}

/** For `TransformStream`. What a transformer throws gives up the stream it reads, too. */
export class LightTransform<In, Out> {
  readonly through: (pull: Pull<In>, cancel: Cancel) => LightReadable<Out>

  constructor(transformer: Transformer<In, Out>) {
    const controller = new Controller<Out>()
    transformer.start?.(controller)

    /** Puts one piece, or the end, through. */
    const put = async (pieces: readonly In[] | null): Promise<void> => {
      if (pieces === null) {
        controller.close()
        await transformer.flush?.(controller)
      }
      for (const piece of pieces ?? []) {
        const working = transformer.transform(piece, controller)
        if (working) await working
        if (controller.over) return
      }
    }
    this.through = (pull, cancel) => {
      const more = async (): Promise<void> => {
        const pieces = await pull()
        try {
          await put(pieces)
        } catch (error) {
          controller.error(error)
        }
        if (controller.over && pieces !== null) cancel().catch(() => {}) // nobody waits for what nobody reads
      }
      return new LightReadable({ pullAll: () => controller.take(more), cancel })
    }
  }
}

/** For `TextDecoderStream`, of UTF-8. */
export class LightDecoder extends LightTransform<Uint8Array, string> {
  constructor() {
    const decoder = new TextDecoder()
    const give = (text: string, controller: Controller<string>): void => {
      if (text !== '') controller.enqueue(text)
    }
    super({
      transform: (piece, controller) => give(decoder.decode(piece, { stream: true }), controller),
      flush: (controller) => give(decoder.decode(), controller),
    })
  }
}
