import { isObject } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import type { Entry } from './layer.ts'
import { SETTINGS } from './schema.ts'
import type { Settings } from './settings.ts'

/** Puts checked layers over `base`, lowest first: a later one wins per setting, and per entry of a map. */
export function merge(base: Settings, layers: readonly (readonly Entry[])[]): Settings {
  let all: Json = base
  for (const { path, value } of layers.flat()) all = placed(all, path, value)
  return SETTINGS.parse(all)
}

function placed(at: Json | undefined, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  const map = isObject(at) ? at : {}
  const own = Object.hasOwn(map, key) ? map[key] : undefined
  return { ...map, [key]: placed(own, rest, value) }
}
