/** Where the files of a stack come from: each kind gives a folder with them, and the revision they are of. */
import type { Source } from "../model";
import { checkOutArtifact } from "./artifact";
import type { Checkout } from "./checkout";
import { checkOutFolder } from "./folder";
import { checkOutGit } from "./git";

/** `cache`: a folder of this machine that is kept between runs. */
export function checkOut(
  source: Source,
  cache: string,
  { signal, now = false }: { readonly signal?: AbortSignal; readonly now?: boolean } = {},
): Promise<Checkout> {
  switch (source.kind) {
    case "git":
      return checkOutGit(source, cache, { signal, now });
    case "folder":
      return checkOutFolder(source);
    case "artifact":
      return checkOutArtifact(source, cache, signal);
    default:
      return source satisfies never;
  }
}
