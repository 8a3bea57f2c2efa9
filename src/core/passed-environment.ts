/** SHL-05: names of secrets. No variable of such a name is given to a command, whoever asks for it. */
const SECRET = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/** The variables of these names that are set and name no secret. */
export const passedEnvironment = (from: Readonly<Record<string, string | undefined>>, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => {
    const value = from[name]
    return value === undefined || SECRET.test(name) ? [] : [[name, value]]
  }))
