import type { SweepAgents, SweepRun } from './contract.ts'

/** The earlier run under this key, if it is as good as a new one (CMD-05): it completed, and every file it read is as it was. */
export async function finishedBefore(key: string, doors: Pick<SweepAgents, 'finished' | 'hashFile'>): Promise<SweepRun | null> {
  const run = doors.finished(key)
  if (!run?.result.success || run.reads === null) return null
  const same = await Promise.all(run.reads.map(async ({ path, hash }) => (await doors.hashFile(path)) === hash))
  return same.every(Boolean) ? run : null
}
