/** A text without any of the secrets: a provider may repeat the key it refuses (JRN-08). */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[key]'), text)
}
