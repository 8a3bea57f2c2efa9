import { realpathSync } from 'node:fs'
import { isAbsolute, sep } from 'node:path'

/**
 * Whether a root is one of the trusted ones or below one (SCO-07): by real paths, so neither a link nor `..` can borrow trust. Relative
 * entries and folders that do not exist trust nothing.
 */
export function isTrusted(root: string, trustedRoots: readonly string[]): boolean {
  const real = realFolder(root)
  if (real === undefined) return false
  return trustedRoots.some((entry) => {
    const trusted = isAbsolute(entry) ? realFolder(entry) : undefined
    return trusted !== undefined && (real === trusted || real.startsWith(trusted.endsWith(sep) ? trusted : `${trusted}${sep}`))
  })
}

function realFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
