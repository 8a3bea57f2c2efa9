import { isList, isObject } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import type { Entry } from './layer.ts'
import { SETTINGS } from './schema.ts'
import type { Settings } from './settings.ts'

/** Puts checked layers over `base`, lowest first: a later one wins per setting, and per entry of a map; rules add up. */
export function merge(base: Settings, layers: readonly (readonly Entry[])[]): Settings {
  let all: Json = base
  for (const { path, value } of layers.flat()) all = placed(all, path, ADDS_UP.includes(path.join('.')) ? added(all, path, value) : value)
  return SETTINGS.parse(all)
}

/** PRM-03: rules of every layer count. */
const ADDS_UP: readonly string[] = ['permissions.allow', 'permissions.ask', 'permissions.deny']

function added(all: Json, path: readonly string[], value: Json): Json {
  const before = path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), all)
  // One that is no list stays an entry: `parseRules` says what is wrong with it.
  return [...(isList(before) ? before : []), ...(isList(value) ? value : [value])]
}

function placed(at: Json | undefined, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  const map = isObject(at) ? at : {}
  const own = Object.hasOwn(map, key) ? map[key] : undefined
  return { ...map, [key]: placed(own, rest, value) }
}
