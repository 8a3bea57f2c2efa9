/** The few colours of a sweep's output; each returns the text as it is when colour is off. */
export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'yellow' | 'green', (text: string) => string>>

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39], green: [32, 39] } as const

export function createPaint(colour: boolean): Paint {
  const painted = (name: keyof typeof CODES) => {
    const [on, off] = CODES[name]
    return (text: string) => (colour && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text)
  }
  return { bold: painted('bold'), dim: painted('dim'), red: painted('red'), yellow: painted('yellow'), green: painted('green') }
}
