import { CadreError } from '../core/errors.ts'
import type { SweepItem } from './contract.ts'
import { parseTemplate } from './template.ts'

/** From the items of one agent to its prompt. */
export type Compose = (items: readonly SweepItem[]) => string

/**
 * How each agent's prompt is made (CMD-05). Without a prompt: JSON, for programs. One item: the template, filled in. Several: the filled
 * templates as a numbered list. A template without any placeholder gets its items below it, so no agent starts without knowing its item.
 * Throws USAGE for a template that cannot be filled.
 */
export function composer(prompt: string | null, columns: readonly string[]): Compose {
  if (prompt === null) return (items) => JSON.stringify({ items: items.map(({ item, columns }) => ({ item, ...columns })) })
  if (prompt.trim() === '') throw new CadreError('USAGE', 'The prompt of the sweep is empty. Say what to do with each {item}.')
  const template = parseTemplate(prompt, columns)
  if (template.names.length > 0) {
    return (items) => {
      const tasks = items.map(template.forItem)
      return tasks.length === 1 ? (tasks[0] ?? '') : `Do each of these ${tasks.length} tasks.\n\n${numbered(tasks)}`
    }
  }
  const nothing = { item: '', columns: {} }
  return (items) => {
    const names = items.map(({ item }) => item)
    return `${template.forItem(nothing)}\n\n${names.length === 1 ? (names[0] ?? '') : numbered(names)}`
  }
}

const numbered = (texts: readonly string[]) => texts.map((text, index) => `${index + 1}. ${text}`).join('\n\n')
