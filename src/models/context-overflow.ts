import { TryFailure } from './try-failure.ts'

/** How providers and servers say that a request holds more than the model can: of a limit per minute they speak otherwise, but for one that compaction helps too. */
const OVERFLOW = [
  /prompt is too long/i, // Anthropic
  /exceeds? (?:the )?context limit/i, // Anthropic: input length and max_tokens exceed context limit
  /context[_ ](?:length|window|size)[_ ]?(?:was |is )?exceeded|exceed_context_size/i, // OpenAI's code, llama.cpp's type
  /exceeds (?:the |this model'?s )?(?:available |maximum )?context (?:window|size|length)/i, // OpenAI, llama.cpp, Ollama
  /maximum (?:context|prompt) length is/i, // OpenAI, OpenRouter, DeepSeek, vLLM, xAI
  /maximum context length/i, // Mistral, LM Studio
  /input token count .*exceeds the maximum/i, // Google
  /input is too long/i, // Bedrock
  /context (?:length )?(?:the )?overflows?\b/i, // LM Studio
  /reduce (?:the length of the|your) (?:messages|prompt|input|message size)/i, // Groq
] as const

/** Whether a text of a provider says that the request did not fit into the model's context window. */
export const saysContextOverflow = (text: string): boolean => OVERFLOW.some((pattern) => pattern.test(text))

/**
 * Whether a failed model call may go better with a shorter history (PRO-08): `error` is what a model rejects with, the try's own failure its cause.
 * A rate limit is none, however it is worded.
 */
export function isContextOverflow(error: unknown): boolean {
  const failure = error instanceof TryFailure ? error : error instanceof Error && error.cause instanceof TryFailure ? error.cause : null
  return failure !== null && failure.kind !== 'rate' && (failure.status === REQUEST_TOO_LARGE || saysContextOverflow(failure.message))
}

/** HTTP: the body holds more bytes than the server takes. */
const REQUEST_TOO_LARGE = 413
