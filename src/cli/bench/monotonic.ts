const NS_PER_MS = 1e6

/** Ms on a clock that all processes of the machine share, and that never jumps. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / NS_PER_MS
