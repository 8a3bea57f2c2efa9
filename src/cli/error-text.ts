import { wholeCharacters } from '../core/title.ts'
import { withoutControls } from './without-controls.ts'

/** A provider may answer with a page. */
const CHARACTERS = 2_000

/** What went wrong, as a terminal may show it, whoever worded it. */
export function errorText(message: string): string {
  const text = withoutControls(message).trimEnd()
  return text.length <= CHARACTERS ? text : `${wholeCharacters(text.slice(0, CHARACTERS))}…`
}
