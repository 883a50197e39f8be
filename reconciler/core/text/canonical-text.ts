/**
 * A name or a description as everything compares it. Services keep the same text in another form: composed or decomposed
 * letters, other line ends, without the blanks at either end. None of these is a difference that a person meant.
 */
export const canonicalText = (text: string): string => text.normalize("NFC").replaceAll("\r\n", "\n").trim();

/** What no text of a file may hold, lines and tabs apart: terminals obey it. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Whether a file may hold the text: over several lines if they are allowed, else on one. */
export const isSayable = (text: string, lines: boolean): boolean =>
  !controls.test(text) && (lines || !/[\n\t]/.test(text));
