/** The trial of each kind of place: where its own state lies beside the one that is named, and how it is taken away again. */
import { rmSync } from "node:fs";
import type { StoreTrial } from "./check";
import { probeHttp, removeHttp } from "./check-http";
import { emptyPrefix, probeBucket } from "./check-s3";
import { followLinks } from "./durable-file";
import { besideHttp } from "./http";
import { filePathOf, type OpenOptions, openStateStore } from "./open";
import { removePostgresState } from "./postgres";
import { defaultLease, StoreFailed } from "./store";

export interface PlaceTrial extends StoreTrial {
  /** Where the trial writes, for people. */
  readonly beside: string;
}

export function trialAt(location: string, name: string, options: Omit<OpenOptions, "times">): PlaceTrial {
  // What is no address is refused as elsewhere, before anything is made of it.
  openStateStore(location, { ...options, times: defaultLease });
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase() ?? "file";
  const at = (beside: string): Pick<PlaceTrial, "open" | "beside"> => {
    const open = () => openStateStore(beside, { ...options, times: defaultLease });
    return { open, beside: open().location };
  };
  switch (scheme) {
    case "http":
    case "https": {
      const beside = besideHttp(location, name);
      const probing = besideHttp(location, `${name}-probe`);
      return {
        ...at(beside),
        probe: () => probeHttp(probing, options),
        async remove() {
          const isGone = [await removeHttp(beside, options), await removeHttp(probing, options)];
          if (isGone.includes(false))
            throw new StoreFailed(
              `this server deletes no state: ${at(beside).beside} and ${at(probing).beside} are left behind, with nothing of yours in them`,
            );
        },
      };
    }
    case "s3": {
      const [, bucket = "", key = ""] = /^s3:\/\/([^/?#@]+)\/([^?#]+?)\/*$/i.exec(location) ?? [];
      const beside = `s3://${bucket}/${key}-${name}`;
      return {
        ...at(beside),
        probe: () => probeBucket(bucket, `${key}-${name}`, beside),
        remove: () => emptyPrefix(bucket, `${key}-${name}`, beside),
      };
    }
    case "postgres":
    case "postgresql": {
      const url = new URL(location);
      url.searchParams.set("state", `${url.searchParams.get("state") ?? "default"}-${name}`);
      return { ...at(url.toString()), remove: () => removePostgresState(url.toString()) };
    }
    default: {
      // The state of a link is where the link ends.
      const beside = `${followLinks(filePathOf(location))}.${name}`;
      return {
        ...at(beside),
        async remove() {
          for (const end of ["", ".journal", ".journal.end", ".lock"]) rmSync(`${beside}${end}`, { force: true });
        },
      };
    }
  }
}
