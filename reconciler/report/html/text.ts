/** Text as HTML: a text of a service or a file stays text, in an element and in an attribute. */
import { printable } from "../../core/text/printable";

export const escapeHtml = (text: string): string =>
  printable(text).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;
