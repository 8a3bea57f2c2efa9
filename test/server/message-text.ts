import { isObject, type Json } from '../../src/core/json.ts'

/** The text of a message's content on either wire: a string, or the joined `text` of its parts. */
export function messageText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part: Json) => (isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n\n')
}

/** A property that is a list of objects; anything else is an empty list. */
export function objects(value: Json | undefined): readonly { readonly [key: string]: Json | undefined }[] {
  return Array.isArray(value) ? value.filter((item: Json) => isObject(item)) : []
}

/** A property that is a text; anything else is ''. */
export const string = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
