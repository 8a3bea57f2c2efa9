/** Characters (code points) of a type's name. */
const MAX_NAME = 256

const CANONICAL = /^[a-z0-9][a-z0-9-]*$/
const ACCEPTED = /^[\p{L}\p{N}_.][\p{L}\p{M}\p{N}_.-]*$/u

/** How a name stands (TYP-07): `accepted` ones load with a note, `refused` ones do not load. */
export function judgeName(name: string): 'canonical' | 'accepted' | 'refused' {
  if (Array.from(name).length > MAX_NAME) return 'refused'
  if (CANONICAL.test(name)) return 'canonical'
  // A name of dots alone would be a path: names become folders (agent memory).
  return ACCEPTED.test(name) && /[\p{L}\p{N}]/u.test(name) ? 'accepted' : 'refused'
}

/** A valid name made from any text: canonical where the text has Latin letters or digits. */
export function proposeName(text: string): string {
  const words = text.replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1-')
  const plain = words.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const latin = trim(plain)
  if (latin !== '') return latin
  return trim(text.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')) || 'agent'
}

const trim = (name: string): string => Array.from(name.replaceAll(/^-+|-+$/g, '')).slice(0, MAX_NAME).join('').replace(/-+$/, '')
