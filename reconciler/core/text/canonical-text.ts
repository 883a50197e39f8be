/**
 * A name or a description as everything compares it. Services keep the same text in another form: composed or decomposed
 * letters, other line ends, without the blanks at either end. None of these is a difference that a person meant.
 */
export const canonicalText = (text: string): string => text.normalize("NFC").replaceAll("\r\n", "\n").trim();
