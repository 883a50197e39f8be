/**
 * Checks that a saved plan has the shape that its readers rely on. Its id proves that it was not changed by accident; a
 * plan that was made by hand or by another version is refused here.
 */

import { kindOf } from "../core/model/address";
import {
  address,
  argv,
  type Check,
  checksOfDesired,
  either,
  flag,
  list,
  mapOf,
  number,
  oneOf,
  optional,
  place,
  reference,
  shape,
  text,
} from "../core/model/checks";
import { groupFields, vmFields, volumeFields } from "../core/model/fields";
import { fieldsIn } from "../core/text/objects";

const anything: Check = () => true;
const source = optional(place);
const inherited = optional(mapOf(place));
const check = either(
  shape({ kind: oneOf("tcp"), port: number }),
  shape({ kind: oneOf("http"), url: text }),
  shape({ kind: oneOf("command"), argv }),
);

const vm = shape({
  kind: oneOf("vm"),
  address,
  ...checksOfDesired(vmFields),
  lifecycle: shape({
    preventDestroy: flag,
    ignoreChanges: list(text),
    onImageChange: oneOf("rebuild", "replace", "ignore"),
    snapshotBefore: list(oneOf("rebuild", "resize", "delete")),
    deleteFloatingIp: optional(flag),
    preservedVolumes: oneOf("retain", "delete"),
    verifyResize: shape({
      confirm: oneOf("auto", "manual"),
      check: optional(check),
      timeoutMs: number,
      onFailure: oneOf("revert", "leave"),
    }),
  }),
  source,
  inherited,
});
const volume = shape({
  kind: oneOf("volume"),
  address,
  ...checksOfDesired(volumeFields),
  lifecycle: shape({ preventDestroy: flag, ignoreChanges: list(text) }),
  source,
  inherited,
});
const group = shape({
  kind: oneOf("group"),
  address,
  ...checksOfDesired(groupFields),
  lifecycle: shape({ preventDestroy: flag, ignoreChanges: list(text), onRuleRemoval: oneOf("replace", "keep") }),
  source,
  inherited,
});
const kindFits: Check = (value) => kindOf(String(fieldsIn(value)["address"])) === fieldsIn(value)["kind"];
const isResource = either(vm, volume, group);
const resource: Check = (value) => isResource(value) && kindFits(value);

const party = either(
  shape({ kind: oneOf("internet", "anywhere", "groups") }),
  shape({ kind: oneOf("group"), group: reference }),
  shape({ kind: oneOf("cidr"), cidr: text }),
  shape({ kind: oneOf("vm"), address }),
);
const desired = shape({
  project: optional(text),
  region: optional(text),
  environment: optional(text),
  isProtected: optional(flag),
  state: optional(shape({ location: text, source })),
  service: shape({
    baseUrl: optional(text),
    dialect: optional(either(shape({ path: text, source }), shape({ inline: anything, source }))),
    timing: shape({
      pollIntervalMs: optional(number),
      vmCreateTimeoutMs: optional(number),
      requestTimeoutMs: optional(number),
      discoveryWindowMs: optional(number),
    }),
  }),
  resources: list(resource),
  imports: list(shape({ to: address, id: optional(text), name: optional(text), source })),
  moved: list(shape({ from: address, to: address, source })),
  removed: list(shape({ from: address, destroy: flag, source })),
  reachability: optional(
    list(
      shape({
        kind: oneOf("never", "always", "only"),
        label: text,
        from: list(party),
        to: list(party),
        direction: optional(oneOf("ingress", "egress")),
        ports: list(anything),
        ethertype: optional(oneOf("IPv4", "IPv6")),
        except: list(anything),
        allow: list(shape({ from: list(party), until: text, reason: text, ports: list(anything), source: anything })),
        because: optional(text),
        source,
      }),
    ),
  ),
  rollouts: optional(
    list(
      shape({
        name: text,
        members: list(address),
        maxUnavailable: anything,
        canary: optional(number),
        check: optional(check),
        timeoutMs: number,
        reverts: optional(flag),
        source,
      }),
    ),
  ),
  checks: optional(
    shape({
      flavors: optional(list(text)),
      images: optional(list(text)),
      regions: optional(list(text)),
      names: optional(mapOf(text)),
      preventDestroy: optional(list(text)),
      snapshotBefore: optional(list(text)),
      atMost: optional(anything),
      hours: optional(shape({ days: list(number), from: number, to: number, text })),
      source,
    }),
  ),
  policy: optional(shape({ command: list(text), timeoutMs: number, source })),
  deny: optional(list(shape({ code: text, source }))),
  outputs: optional(list(shape({ name: text, value: shape({ is: oneOf("text", "plain", "list", "map") }), source }))),
  files: list(text),
});

const parts: Readonly<Record<string, Check>> = {
  lineage: text,
  serial: number,
  folder: text,
  options: shape({
    destroy: optional(flag),
    targets: optional(list(text)),
    excludes: optional(list(text)),
    replace: optional(list(text)),
    adopt: optional(flag),
    acceptService: optional(flag),
    maxAgeMs: optional(number),
  }),
  desired,
  changes: list(shape({ address, action: text })),
  steps: list(shape({ id: text, address: text })),
  files: optional(list(shape({ file: text, sha256: text }))),
  attached: optional(mapOf(list(text))),
  outputs: optional(list(shape({ name: text, known: flag, changes: flag }))),
  consents: list(shape({ kind: text, loss: optional(shape({ disk: text })) })),
};

/** Names the part of the plan that cannot be read; `undefined` when all can be read. */
export function unreadablePart(plan: object): string | undefined {
  for (const [name, readable] of Object.entries(parts)) if (!readable(fieldsIn(plan)[name])) return name;
  return undefined;
}
