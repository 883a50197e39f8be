/**
 * Where a program keeps what is the user's, by the XDG base directories. One that is relative, or empty, counts as none, as
 * the standard says: it would be a folder of whatever repository the command runs in, and a login would be committed there.
 */
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

const usual = { XDG_CACHE_HOME: ".cache", XDG_CONFIG_HOME: ".config" } as const;

export function folderOfUser(name: keyof typeof usual): string {
  const given = process.env[name] ?? "";
  return join(isAbsolute(given) ? given : join(home(), usual[name]), "reconcile");
}

/** What HOME says, unless it is relative or empty as well. */
function home(): string {
  const said = homedir();
  return isAbsolute(said) ? said : userInfo().homedir;
}
