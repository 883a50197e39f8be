/** Where the files of a stack come from. Each kind of source gives a folder with the files, and their revision. */
import type { Source } from "../model";
import { checkOutArtifact } from "./artifact";
import type { Checkout } from "./checkout";
import { checkOutFolder } from "./folder";
import { checkOutGit, type Freshness } from "./git";

/** `cache`: a folder of this machine that is kept between runs. */
export function checkOut(source: Source, cache: string, freshness: Freshness = {}): Promise<Checkout> {
  switch (source.kind) {
    case "git":
      return checkOutGit(source, cache, freshness);
    case "folder":
      return checkOutFolder(source);
    case "artifact":
      return checkOutArtifact(source, cache, freshness.signal);
  }
}
