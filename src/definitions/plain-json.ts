import type { Json } from '../core/json.ts'
import { isObject } from '../core/json.ts'

/** What one field may hold: deeper or larger than this is an attack or a mistake. */
const VALUE_LIMITS = { depth: 32, nodes: 10_000 }

/**
 * The value as plain JSON data, or undefined when it is not: functions, dates, infinities, cycles, too deep or too large. Keys named
 * `__proto__` are left out, so no copy of it can reach a prototype.
 */
export function plainJson(value: unknown): Json | undefined {
  let nodes = 0
  const copy = (inner: unknown, depth: number): Json | undefined => {
    nodes += 1
    if (depth > VALUE_LIMITS.depth || nodes > VALUE_LIMITS.nodes) return undefined
    if (inner === null || typeof inner === 'boolean' || typeof inner === 'string') return inner
    if (typeof inner === 'number') return Number.isFinite(inner) ? inner : undefined
    if (Array.isArray(inner)) return copyList(inner, depth)
    return isObject(inner) ? copyMap(inner, depth) : undefined
  }
  const copyList = (list: readonly unknown[], depth: number): Json | undefined => {
    const items: Json[] = []
    for (const item of list) {
      const plain = copy(item, depth + 1)
      if (plain === undefined) return undefined
      items.push(plain)
    }
    return items
  }
  const copyMap = (map: object, depth: number): Json | undefined => {
    const prototype: unknown = Object.getPrototypeOf(map)
    if (prototype !== null && prototype !== Object.prototype) return undefined
    const entries: [string, Json][] = []
    for (const [key, item] of Object.entries(map)) {
      if (key === '__proto__') continue
      const plain = copy(item, depth + 1)
      if (plain === undefined) return undefined
      entries.push([key, plain])
    }
    return Object.fromEntries(entries)
  }
  return copy(value, 0)
}
