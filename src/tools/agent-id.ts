import { z } from 'zod'

/** What a call may name its sub-agent by: one field with three names (STR-01). */
export const AGENT_ID = { agent_id: z.string().optional(), task_id: z.string().optional(), to: z.string().optional() }

/** The id a call names, or null. */
export const agentIdOf = ({ agent_id, task_id, to }: { readonly agent_id?: string | undefined; readonly task_id?: string | undefined; readonly to?: string | undefined }): string | null =>
  [agent_id, task_id, to].find((id) => id !== undefined && id.trim() !== '')?.trim() ?? null
