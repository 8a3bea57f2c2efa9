import type { LeftOut } from './walk.ts'

/** The lines that tell a model what a listing does not show; none when it is complete. */
export function describeLeftOut({ ignored, unreadable }: LeftOut): readonly string[] {
  return [
    ...(ignored > 0 ? [`[${ignored} ignored ${ignored === 1 ? 'entry' : 'entries'} left out: ignored=true shows them]`] : []),
    ...(unreadable > 0 ? [`[${unreadable} ${unreadable === 1 ? 'file or folder' : 'files or folders'} could not be read]`] : []),
  ]
}
