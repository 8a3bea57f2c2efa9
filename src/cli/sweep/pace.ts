const LIMITS = { windowMs: 30_000, sampleMs: 500 } as const

/** How fast a count grows: over the last half minute, or since the start when nothing was added in it. */
export type Pace = {
  /** Tells the count at a time in ms. The first one is where it starts from. */
  add(time: number, value: number): void
  /** Per second; null before the first growth. */
  at(time: number): number | null
}

export function createPace(): Pace {
  let first: { readonly time: number; readonly value: number } | null = null
  let latest = 0
  let samples: { readonly time: number; readonly value: number }[] = []
  return {
    add(time, value) {
      first ??= { time, value }
      latest = value
      const last = samples.at(-1)
      if (last && time - last.time < LIMITS.sampleMs) return
      samples.push({ time, value })
      while (samples.length > 1 && time - (samples[1]?.time ?? time) >= LIMITS.windowMs) samples = samples.slice(1)
    },
    at(time) {
      for (const from of [samples[0], first]) {
        if (from && latest > from.value && time > from.time) return ((latest - from.value) / (time - from.time)) * 1000
      }
      return null
    },
  }
}
