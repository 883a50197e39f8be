/** The trial of each kind of place: where its own state lies beside the one that is named, and how it is taken away again. */
import { rmSync } from "node:fs";
import type { StoreTrial } from "./check";
import { isTakenHttp, probeHttp, removeHttp } from "./check-http";
import { emptyPrefix, probeBucket } from "./check-s3";
import { followLinks, refuseMountedAlone } from "./durable-file";
import { besideHttp } from "./http";
import { filePathOf, type OpenOptions, openStateStore, schemeOf } from "./open";
import { removePostgresState } from "./postgres";
import { readS3Address } from "./s3";
import { defaultLease, StoreFailed } from "./store";

export interface PlaceTrial extends StoreTrial {
  /** Where the trial writes, for people. */
  readonly beside: string;
}

/**
 * The lock beside goes with the state beside: the lock that is named for the state itself may be held by a run, and is
 * neither asked for nor taken away.
 */
function httpPlaceBeside<O extends Pick<OpenOptions, "environment">>(location: string, name: string, options: O) {
  const { RECONCILE_STATE_LOCK_ADDRESS: lock = "" } = options.environment;
  const url = besideHttp(location, name);
  const lockBeside = lock.startsWith(location)
    ? url + lock.slice(location.length)
    : URL.canParse(lock) && besideHttp(lock, name);
  const environment = { ...options.environment, RECONCILE_STATE_LOCK_ADDRESS: lockBeside || lock };
  return { url, options: { ...options, environment } };
}

/** What was there before the trial is not taken away, nor where nobody could say. */
export function trialAt(location: string, name: string, options: Omit<OpenOptions, "times">): PlaceTrial {
  const trial = trialOfKind(location, name, options);
  let isFree = false;
  return {
    ...trial,
    async isTaken() {
      isFree = !(await trial.isTaken());
      return !isFree;
    },
    remove: async () => {
      if (isFree) await trial.remove();
    },
  };
}

function trialOfKind(location: string, name: string, options: Omit<OpenOptions, "times">): PlaceTrial {
  // What is no address is refused as elsewhere, before anything is made of it.
  openStateStore(location, { ...options, times: defaultLease });
  const at = (beside: string, given = options): Pick<PlaceTrial, "open" | "beside" | "isTaken"> => {
    const open = () => openStateStore(beside, { ...given, times: defaultLease });
    const isTaken = async (): Promise<boolean> => {
      const { snapshot, journal } = await open().read();
      return snapshot !== undefined || journal.length > 0;
    };
    return { open, beside: open().location, isTaken };
  };
  switch (schemeOf(location)) {
    case "http":
    case "https": {
      const beside = httpPlaceBeside(location, name, options);
      const probing = httpPlaceBeside(location, `${name}-probe`, options);
      return {
        ...at(beside.url, beside.options),
        isTaken: async () =>
          (await isTakenHttp(beside.url, beside.options)) || (await isTakenHttp(probing.url, probing.options)),
        probe: () => probeHttp(probing.url, probing.options),
        async remove() {
          const isGone = [await removeHttp(beside.url, beside.options), await removeHttp(probing.url, probing.options)];
          if (isGone.includes(false))
            throw new StoreFailed(
              `this server deletes no state: ${at(beside.url).beside} and ${at(probing.url).beside} are left behind, with nothing of yours in them`,
            );
        },
      };
    }
    case "s3": {
      const { bucketName: bucket, key } = readS3Address(location);
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
      const path = followLinks(filePathOf(location));
      refuseMountedAlone(path);
      const beside = `${path}.${name}`;
      return {
        ...at(beside),
        async remove() {
          for (const end of ["", ".journal", ".journal.end", ".lock"]) rmSync(`${beside}${end}`, { force: true });
        },
      };
    }
  }
}
