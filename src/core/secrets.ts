/** Names of HTTP headers whose values are keys: taken out of every text, and never accepted from a project (JRN-08, MOD-08). */
export const SECRET_HEADER = /auth|cookie|key|token|secret|password/i

/** Shorter values are no secrets but placeholders (`ollama`, `none`, `test`): taking those out would garble ordinary text and model names. */
export const MIN_SECRET_CHARS = 8
