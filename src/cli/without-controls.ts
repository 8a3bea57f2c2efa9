import { stripVTControlCharacters } from 'node:util'

/** Text of many lines that cannot move the cursor or change colours, whoever wrote it. */
export const withoutControls = (text: string): string =>
  stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '')
