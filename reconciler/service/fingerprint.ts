/**
 * The version that a write has to send: read from the record that the write is about, put into a header or the body, and
 * read once more where the service says that it is another one by then.
 */
import { type Operation, rowOf } from "../core/model/operation";
import { accepted, type Failure, isRefusedAs, type Outcome } from "../core/model/outcome";
import type { Dialect } from "../dialect/dialect";
import { findAt } from "../dialect/places";
import { type Ids, type ShownVersion, type VersionedRequest, versionShown, withVersion } from "../dialect/requests";

/** A record, and what the headers of the answer with it say. */
export interface ShownRecord {
  readonly record: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Versions {
  /** Sends with the version that the record shows; without one where it shows none. */
  send<T>(
    operation: Operation,
    request: VersionedRequest,
    ids: Ids,
    send: (request: VersionedRequest) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
}

/** `show`: the record of a resource, by an operation that is about it. */
export function versionsOf(
  { fingerprint }: Pick<Dialect, "fingerprint">,
  show: (operation: Operation, ids: Ids) => Promise<Outcome<ShownRecord>>,
): Versions {
  if (fingerprint === undefined) return { send: (_, request, __, send) => send(request) };
  const versionFor = async (operation: Operation, ids: Ids): Promise<Outcome<ShownVersion | undefined>> => {
    const shown = await show(operation, ids);
    // A record that cannot be read by itself, nor in a list, shows no version.
    if (shown.status !== "accepted") return isRefusedAs(shown, "unsupported") ? accepted(undefined) : shown;
    return accepted(versionShown(fingerprint, shown.value.record, shown.value.headers));
  };
  return {
    async send(operation, request, ids, send) {
      const id = aboutId(operation, ids, request.body);
      if (id === undefined) return send(request);
      const version = await versionFor(operation, { id });
      if (version.status !== "accepted") return version;
      if (version.value === undefined) return send(request);
      const outcome = await send(withVersion(request, fingerprint.send, version.value));
      if (!isOutOfDate(outcome)) return outcome;
      const again = await versionFor(operation, { id });
      if (again.status !== "accepted" || again.value === undefined || again.value === version.value) return outcome;
      return send(withVersion(request, fingerprint.send, again.value));
    },
  };
}

/** The resource that a write changes; nothing that is there yet is changed by a create. */
function aboutId(operation: Operation, { id }: Ids, body: unknown): string | undefined {
  if (rowOf(operation).kind === "read") return undefined;
  const named = id ?? findAt(body, ["volume_id"]);
  return typeof named === "string" ? named : undefined;
}

const isOutOfDate = (outcome: Outcome<unknown>): outcome is Failure =>
  outcome.status === "rejected" && (outcome.httpStatus === 412 || outcome.httpStatus === 409);
