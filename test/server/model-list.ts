import type { JsonObject } from '../../src/core/json.ts'

/** What a provider's model list answers at `path`; null where there is no list. Anthropic and OpenAI share a path and differ by header. */
export function modelList(path: string, headers: Readonly<Record<string, string>>, models: readonly string[]): JsonObject | null {
  if (path.endsWith('/api/tags')) {
    const facts = { modified_at: '2026-01-01T00:00:00Z', size: 4_000_000_000, digest: '0'.repeat(64), details: { format: 'gguf' } }
    return { models: models.map((name) => ({ name, model: name, ...facts })) }
  }
  if (!path.endsWith('/v1/models')) return null
  if (headers['anthropic-version'] !== undefined) {
    const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }))
    return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null }
  }
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created: 1_760_000_000, owned_by: 'scripted' })) }
}
