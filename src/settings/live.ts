import { statSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Diagnostic } from '../core/diagnostic.ts'
import { formatDiagnostic } from '../core/diagnostic.ts'
import { loadSettings } from './load.ts'
import type { LoadedSettings, SettingsOptions } from './load.ts'

/** Settings that follow their files: what is written counts for delegations starting 1 s later (SET-02). */
export type LiveSettings = {
  /** The settings as they are now. Looks at the files at most twice a second, and reads them only when one has changed. */
  current(): LoadedSettings
}

const LOOK_EVERY_MS = 500

/** `onDiagnostic` hears each finding once per state of the files (TYP-19). */
export function liveSettings(options: SettingsOptions & { onDiagnostic(diagnostic: Diagnostic): void }): LiveSettings {
  const { onDiagnostic } = options
  let loaded = loadSettings(options)
  let told = tell(loaded, new Set())
  let stamp = stampOf(loaded)
  let looked = performance.now()

  function tell({ diagnostics }: LoadedSettings, known: ReadonlySet<string>): ReadonlySet<string> {
    for (const diagnostic of diagnostics) if (!known.has(formatDiagnostic(diagnostic))) onDiagnostic(diagnostic)
    return new Set(diagnostics.map(formatDiagnostic))
  }

  return {
    current() {
      const now = performance.now()
      if (now - looked < LOOK_EVERY_MS) return loaded
      looked = now
      const seen = stampOf(loaded)
      if (seen === stamp) return loaded
      stamp = seen
      loaded = loadSettings({ ...options, previous: loaded })
      told = tell(loaded, told)
      return loaded
    },
  }
}

const stampOf = ({ files }: LoadedSettings): string =>
  files.map((file) => {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}` : '-'
  }).join(' ')
