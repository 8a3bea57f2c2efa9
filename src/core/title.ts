const TITLE_CHARACTERS = 60

/** One line for listings, of what somebody wrote (AGT-04). */
export const titleOf = (written: string): string => wholeCharacters(written.trim().replaceAll(/\s+/g, ' ').slice(0, TITLE_CHARACTERS))

/** A cut text without the half of a character the cut may have left at its end. */
export const wholeCharacters = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '')
