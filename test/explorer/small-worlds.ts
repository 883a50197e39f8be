/** The small worlds that are explored: a file that was applied, and the file that is applied now. */
import { readDesired } from "../../reconciler/config/read/desired";
import { asClosed, type Closed } from "../../reconciler/core/model/desired";
import type { Capabilities } from "../support/virtual-world";

export interface SmallWorld {
  readonly before?: Closed;
  readonly desired: Closed;
  /** Left out: every operation. */
  readonly service?: Capabilities;
}

const everything: Capabilities = { with: ["volume.list", "group.list", "group.get", "group.rule.delete"] };
const withoutRuleDelete: Capabilities = { with: ["volume.list", "group.list", "group.get"] };

const head = `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10 } }
`;

function file(text: string): Closed {
  const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text: head + text }]);
  if (desired === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  return asClosed(desired);
}

const rule = (port: number): string => `{ protocol: tcp, dst_port: ${port}, remote_ip: 10.0.0.0/8 }`;

const mount = "flush: { via: stop }, after_attach: { command: [mount] }";
const provision = "after_ready: { command: [provision] }";

export const smallWorlds: Readonly<Record<string, () => SmallWorld>> = {
  "a VM, a volume on it and a group": () => ({
    desired: file(
      `vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web } }\ngroups: { wall: { rules: [ ${rule(22)} ] } }`,
    ),
    service: everything,
  }),
  "a volume that grows on its VM": () => ({
    before: file("vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web } }"),
    desired: file("vms: { web: {} }\nvolumes: { data: { size: 9, attach_to: web } }"),
    service: everything,
  }),
  "a VM that is renamed and resized": () => ({
    before: file("vms: { web: {} }"),
    desired: file("vms: { web: { name: front, flavor_id: m1.large } }"),
    service: everything,
  }),
  "a VM that is replaced under its volume": () => ({
    before: file("vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web } }"),
    desired: file("vms: { web: { root_size: 80 } }\nvolumes: { data: { size: 5, attach_to: web } }"),
    service: everything,
  }),
  "rules that come and go": () => ({
    before: file(`groups: { wall: { rules: [ ${rule(22)}, ${rule(80)} ] } }`),
    desired: file(`groups: { wall: { description: seen, rules: [ ${rule(80)}, ${rule(443)} ] } }`),
    service: everything,
  }),
  "a group that is replaced without a gap": () => ({
    before: file(
      `groups: { wall: { rules: [ ${rule(22)}, ${rule(80)} ] }, door: { rules: [ { protocol: tcp, dst_port: 5432, remote_group: wall } ] } }`,
    ),
    desired: file(
      `groups: { wall: { rules: [ ${rule(80)} ] }, door: { rules: [ { protocol: tcp, dst_port: 5432, remote_group: wall } ] } }`,
    ),
    service: withoutRuleDelete,
  }),
  "a volume that grows, and a command that is owed": () => ({
    before: file(`vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web, ${mount} } }`),
    desired: file(`vms: { web: {} }\nvolumes: { data: { size: 9, attach_to: web, ${mount} } }`),
    service: everything,
  }),
  "a VM with its commands, made": () => ({
    desired: file(`vms: { web: { ${provision} } }\nvolumes: { data: { size: 5, attach_to: web, ${mount} } }`),
    service: everything,
  }),
  "a VM with its commands, replaced": () => ({
    before: file(`vms: { web: { ${provision} } }\nvolumes: { data: { size: 5, attach_to: web, ${mount} } }`),
    desired: file(
      `vms: { web: { ${provision}, root_size: 80 } }\nvolumes: { data: { size: 5, attach_to: web, ${mount} } }`,
    ),
    service: everything,
  }),
  "a VM with its command, rebuilt": () => ({
    before: file(`vms: { web: { ${provision} } }`),
    desired: file(`vms: { web: { ${provision}, image_id: 00000000-0000-4000-8003-000000000002 } }`),
    service: everything,
  }),
  "everything goes": () => ({
    before: file(
      `vms: { web: {} }\nvolumes: { data: { size: 5, attach_to: web } }\ngroups: { wall: { rules: [ ${rule(22)} ] } }`,
    ),
    desired: file("{}".replace("{}", "")),
    service: everything,
  }),
  "a service without lists of volumes and groups": () => ({
    desired: file(`volumes: { data: { size: 5 } }\ngroups: { wall: { rules: [ ${rule(22)} ] } }`),
  }),
};
