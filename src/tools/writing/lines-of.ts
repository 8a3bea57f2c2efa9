const NEWLINE = 10

/** `1 line`, `20 lines`. */
export const linesOf = (bytes: Buffer): string => {
  const lines = lineCount(bytes)
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`
}

/** What follows the last newline counts when it is not empty. */
function lineCount(bytes: Buffer): number {
  let lines = bytes.length > 0 && bytes.at(-1) !== NEWLINE ? 1 : 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}
