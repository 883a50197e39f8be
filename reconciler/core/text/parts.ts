/** The text before the mark; all of it where the mark does not occur. */
export function textBefore(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}
