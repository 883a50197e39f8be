/** The life of a small project that a dialect is proven on: as much of it as the deployment's operations allow. */
import { readDesired } from "../config/read/desired";
import { abilitiesOf } from "../core/model/abilities";
import type { Desired } from "../core/model/desired";
import type { Kind } from "../core/model/kinds";
import type { NameRules } from "../core/model/name-rule";
import { isAssumed, type Operation } from "../core/model/operation";
import type { Dialect } from "../dialect/dialect";
import { nameProblemBy } from "../dialect/name-problem";

export interface Chapter {
  readonly title: string;
  readonly desired: Desired;
  readonly destroy?: true;
}

type ProvenBlock = Readonly<Record<string, unknown>>;
interface Blocks {
  readonly vms?: Readonly<Record<string, ProvenBlock>>;
  readonly volumes?: Readonly<Record<string, ProvenBlock>>;
  readonly groups?: Readonly<Record<string, ProvenBlock>>;
}

export function lifeIn(dialect: Dialect): readonly Chapter[] {
  const has = (operation: Operation): boolean => !isAssumed(operation) || dialect.operations[operation] !== null;
  const can = abilitiesOf(has, dialect.limits);
  const hasVms = can.canFindCreated("vm");
  // Where no list of images says which id a name has, a file says the id.
  const [first, second] = has("image.list") ? ["ubuntu-24.04", "debian-12"] : [imageIdOf(1), imageIdOf(2)];
  const named = nameFitting(dialect.names);
  const vm = (key: string, more: ProvenBlock = {}): ProvenBlock => ({ name: named("vm", key), ...more });
  const volume = (key: string, more: ProvenBlock): ProvenBlock => ({ name: named("volume", key), ...more });
  const group = (key: string, more: ProvenBlock): ProvenBlock => ({ name: named("group", key), ...more });
  const on = (address: string): ProvenBlock => (hasVms ? { attach_to: address, flush: { via: "ask" } } : {});
  const free: ProvenBlock = hasVms ? { flush: { via: "ask" } } : {};
  const tcp = (port: number | string, remote: ProvenBlock = { remote_ip: "0.0.0.0/0" }): ProvenBlock => ({
    protocol: "tcp",
    dst_port: port,
    ...remote,
  });
  const ranges = dialect.rules.port_range === null ? [] : [tcp("8000-8010")];
  const chapters: readonly (readonly [title: string, blocks: Blocks])[] = [
    [
      "made",
      {
        vms: { web: vm("web-1"), base: vm("db-1") },
        volumes: {
          data: volume("data-1", { size: 20, ...on("base") }),
          spare: volume("spare-1", { size: 5, ...free }),
        },
        groups: {
          front: group("front", { description: "first", rules: [tcp(443), tcp(80), ...ranges] }),
          back: group("back", { rules: [tcp(5432, { remote_group: "front" }), { ...tcp(53), direction: "egress" }] }),
        },
      },
    ],
    [
      "changed",
      {
        vms: { web: vm("web-1", { flavor_id: "m1.medium" }), base: vm("db-2") },
        volumes: {
          data: volume("data-1", { size: 30, ...on("base") }),
          spare: volume("spare-1", { size: 8, ...on("web") }),
        },
        groups: {
          front: group("edge", { description: "second", rules: [tcp(443)] }),
          back: group("back", {
            rules: [tcp(5432, { remote_group: "front" }), tcp(22), { ...tcp(53), direction: "egress" }],
          }),
        },
      },
    ],
    [
      "moved and rebuilt",
      {
        vms: { web: vm("web-1", { flavor_id: "m1.medium", image_id: second }), base: vm("db-2", { power: "stopped" }) },
        volumes: { data: volume("data-1", { size: 30, ...on("web") }), spare: volume("spare-1", { size: 8, ...free }) },
        groups: { front: group("edge", { rules: [tcp(443), tcp(8443)] }) },
      },
    ],
    ["gone", {}],
  ];
  return chapters.map(([title, { vms, ...blocks }]) => ({
    title,
    desired: desiredBlocks(hasVms && vms !== undefined ? { vms, ...blocks } : blocks, first),
    destroy: title === "gone" ? (true as const) : undefined,
  }));
}

/** A name that this deployment takes, as near to the given one as can be. */
function nameFitting(rules: NameRules): (kind: Kind, name: string) => string {
  const problemOf = nameProblemBy(rules);
  return (kind, name) => {
    const { shortest = 0, longest = 50 } = rules[kind] ?? {};
    const tries = [name, name.replaceAll("-", ""), name.replaceAll(/[^a-z]/g, "")].flatMap((one) => [
      one,
      `${one}${"x".repeat(Math.max(0, shortest - one.length))}`,
      one.slice(0, longest),
    ]);
    return tries.find((one) => one.length >= 3 && problemOf(kind, one) === undefined) ?? name;
  };
}

const imageIdOf = (nth: number): string => `00000000-0000-4000-8000-00000000000${nth}`;

function desiredBlocks(blocks: Blocks, image_id: string): Desired {
  const vm = { owner: "ops@acme.example", user_id: "1042", image_id, flavor_id: "m1.small", size: 10 };
  const value = { version: 1, project: "acme", region: "in-west-1", defaults: { vm }, ...blocks };
  const { desired, diagnostics } = readDesired([{ file: "life.yaml", text: JSON.stringify(value) }]);
  if (desired === undefined)
    throw new Error(`the life cannot be read: ${diagnostics.map(({ summary }) => summary).join("; ")}`);
  return desired;
}
