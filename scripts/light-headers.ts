/**
 * What stands for `Headers` in the build: as much of it as the provider packages use for the requests Cadre makes. Whoever first touches
 * Node's own loads its whole web client, at 70 ms of CPU on a slow core, for one map of names.
 */
export class LightHeaders {
  readonly #values = new Map<string, string>()

  constructor(values: Readonly<Record<string, string>>) {
    for (const [name, value] of Object.entries(values)) this.set(name, value)
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value)
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries()
  }
}
