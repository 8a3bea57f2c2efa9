/**
 * How many objects and arrays data of a reply may hold inside each other: the same as a program's (src/programs/parse-step.ts). Much deeper
 * data overflows the stack of whoever walks through it: the journal, the checks of inputs, a copy to a thread.
 */
export const MAX_NESTING = 128

/** Whether data is nested deeper than MAX_NESTING. Goes through it layer by layer, so that it has no depth of its own. */
export function isTooDeep(value: unknown): boolean {
  let layer = isContainer(value) ? [value] : []
  for (let depth = 0; depth < MAX_NESTING && layer.length > 0; depth += 1) {
    const next: object[] = []
    for (const container of layer) {
      // What this layer holds; a list as it is, because a reply can be millions of small ones.
      const held: readonly unknown[] = Array.isArray(container) ? container : Object.values(container)
      for (const inner of held) if (isContainer(inner)) next.push(inner)
    }
    layer = next
  }
  return layer.length > 0
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
