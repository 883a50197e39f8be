/** Small makers for files of desired state: what a test is not about is filled in. */

import { type ReadOptions, type ReadResult, readDesired } from "../../reconciler/config/read/desired";
import type { Desired, DesiredGroup, DesiredVm, DesiredVolume } from "../../reconciler/core/model/desired";

export const head = `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: img-1, flavor_id: m1.small, size: 10 } }
`;

/** The same as a value, for a service that has this image. */
export const project = (blocks: object) => ({
  version: 1,
  project: "acme",
  region: "in-west-1",
  defaults: {
    vm: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
  },
  ...blocks,
});

export const readText = (body: string, options?: ReadOptions): ReadResult<Desired> =>
  readDesired([{ file: "reconcile.yaml", text: head + body }], options);

/** The desired state of a file that must have no problems at all. */
export function desiredOf(body: string, options?: ReadOptions): Desired {
  const { desired, diagnostics } = readText(body, options);
  if (desired === undefined || diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics, undefined, 2));
  return desired;
}

export function resourceOf<T extends DesiredVm | DesiredVolume | DesiredGroup>(desired: Desired, address: string): T {
  const found = desired.resources.find((resource) => resource.address === address);
  if (found === undefined) throw new Error(`no ${address} among ${desired.resources.map((one) => one.address)}`);
  return found as T;
}

/** Without where things were written: what two spellings of one meaning share. */
export const withoutSources = (desired: Desired | undefined): unknown =>
  JSON.parse(
    JSON.stringify(desired ?? null, (key, value) =>
      ["source", "inherited", "files"].includes(key) ? undefined : value,
    ),
  );
