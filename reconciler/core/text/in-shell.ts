/** A word of a command line, quoted where it has to be. The home folder stays the shell's to fill in. */
export function inShell(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  const quoted = (text: string): string => (text === "" ? "" : `'${text.replaceAll("'", "'\\''")}'`);
  return word.startsWith("~/") ? `~/${quoted(word.slice(2))}` : quoted(word);
}
