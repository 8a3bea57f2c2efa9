/** One entry of an agent's own list (TOO-11). */
export type TodoItem = { readonly text: string; readonly status: 'pending' | 'in_progress' | 'done' }
