import { lstatSync } from 'node:fs'

import type { ReadFunction } from '../../core/tool.ts'
import { confine, display } from './confine.ts'
import { demandFolder } from './folder.ts'
import type { GlobInput } from './inputs.ts'
import { ReadLog } from './reads.ts'

/** TOO-04. */
const GLOB_LIMITS = { paths: 1_000, maxPaths: 100_000 } as const

/** Files whose path matches a glob, sorted by path. Links are left out, as by grep: what they lead to has a path of its own. */
export const glob: ReadFunction<GlobInput> = async (input, context) => {
  const { pattern, path = '.', ignored = false, offset = 0, limit = GLOB_LIMITS.paths } = input
  const [{ Walker }, { describeLeftOut }, { globPattern }] =
    await Promise.all([import('./walk.ts'), import('./left-out.ts'), import('./glob-pattern.ts')])
  const place = confine(context, path)
  demandFolder(place, path)
  const { base, matches } = globPattern(pattern.startsWith(`${place.real}/`) ? pattern.slice(place.real.length + 1) : pattern)
  const log = new ReadLog()
  const walker = new Walker(log, () => context.stopped())
  const start = base === '' ? place : confine(context, `${place.real}/${base}`)
  const last = offset + Math.min(limit, GLOB_LIMITS.maxPaths)
  const paths: string[] = []
  let count = 0
  // A base that runs through a link leads elsewhere: its files have other paths, which the pattern does not name.
  const isAsWritten = start.real === (base === '' ? place.real : `${place.real}/${base}`)
  if (isAsWritten && lstatSync(start.real, { throwIfNoEntry: false })?.isDirectory() === true) {
    walker.walk(start, ignored, (entry) => {
      if (entry.kind !== 'file' || !matches(entry.real.slice(place.real.length + 1))) return true
      if (count >= offset && count < last) paths.push(entry.path)
      count += 1
      return true
    })
  }
  const more = Math.max(0, count - last)
  const reads = log.result()
  const text = context.form === 'data'
    ? JSON.stringify({ paths, more, ...walker.leftOut })
    : [
        ...(count === 0 ? ['No files match.'] : paths.map(display)),
        ...(more > 0 ? [`[${more} more paths: offset=${last}]`] : []),
        ...describeLeftOut(walker.leftOut),
      ].join('\n')
  return reads === undefined ? { text } : { text, reads }
}
