import { describe, expect, it } from "vitest";
import { divide, type Other } from "../../reconciler/config/move/divide";
import { type ConfigSource, readDesired } from "../../reconciler/config/read/desired";
import type { Desired } from "../../reconciler/core/model/desired";
import { countCampaign } from "../support/campaign-count";

const runs = Number(process.env["CUT_RUNS"] ?? 25);

/** A small generator: the same seed makes the same project and the same cut. */
function chance(seed: number) {
  let state = seed * 2654435761 + 1;
  const next = (): number => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    return state / 2 ** 32;
  };
  return {
    below: (most: number): number => Math.floor(next() * most),
    often: (of: number): boolean => next() < of,
    pick: <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!,
  };
}

const head = 'version: 1\nproject: acme\nregion: in-west-1\nservice: { base_url: "https://cloud.example" }\n';

/** Blocks in a random order, which mention only blocks made before them, in all the ways there are. */
function project(seed: number): { readonly text: string; readonly blocks: readonly string[] } {
  const { below, often, pick } = chance(seed);
  const [vms, groups, volumes, vars]: [string[], string[], string[], string[]] = [[], [], [], []];
  const lines = {
    vms: [] as string[],
    groups: [] as string[],
    volumes: [] as string[],
    vars: [] as string[],
    outputs: [] as string[],
  };
  let notes = 0;
  const remark = (indent: string): string => (often(0.3) ? `${indent}# note ${++notes}\n` : "");
  const count = 3 + below(8);
  for (let at = 0; at < count; at++) {
    const each = often(0.25);
    const variable = often(0.4) ? `v${at}` : undefined;
    if (variable !== undefined) {
      vars.push(variable);
      lines.vars.push(`${remark("  ")}  ${variable}: { default: ${10 + below(20)} }`);
    }
    const size =
      variable !== undefined ? `\${var.${variable}}` : vars.length > 0 && often(0.3) ? `\${var.${pick(vars)}}` : "10";
    const tail = often(0.3) ? `   # ${at}` : "";
    lines.vms.push(
      often(0.5)
        ? `${remark("  ")}  vm${at}:\n${each ? "    for_each: [a, b]\n" : ""}    name: vm-${at}${each ? "-${each}" : ""}${tail}\n    size: "${size}"`
        : `${remark("  ")}  vm${at}: { ${each ? "for_each: [a, b], " : ""}name: "vm-${at}${each ? "-${each}" : ""}", size: "${size}" }${tail}`,
    );
    const instance = each ? `vm${at}[a]` : `vm${at}`;
    if (often(0.4)) {
      volumes.push(`data${at}`);
      lines.volumes.push(`${remark("  ")}  data${at}: { size: ${1 + below(50)}, attach_to: "${instance}" }`);
    }
    const mention = (): string => {
      if (groups.length > 0 && often(0.4)) return `remote_group: ${pick(groups)}`;
      if (vms.length > 0 && often(0.6)) return `remote_ip: "${pick(vms)}"`;
      return "remote_ip: 198.51.100.0/24";
    };
    const rules = Array.from(
      { length: below(3) },
      (_, port) => `{ protocol: tcp, dst_port: ${1000 + at * 10 + port}, ${mention()} }`,
    );
    lines.groups.push(
      often(0.5)
        ? `${remark("  ")}  group${at}:\n    name: group-${at}\n    rules: [${rules.join(", ")}]`
        : `${remark("  ")}  group${at}:\n    name: group-${at}\n    rules:${rules.length === 0 ? " []" : `\n${rules.map((rule) => `      - ${rule}`).join("\n")}`}`,
    );
    groups.push(`group${at}`);
    vms.push(each ? `\${vm.vm${at}[*].private_ip}` : `\${vm.vm${at}.private_ip}`);
    if (often(0.2)) lines.outputs.push(`  out${at}: "${vms.at(-1)!}"`);
  }
  const section = (name: keyof typeof lines): string =>
    lines[name].length === 0 ? "" : `\n${name}:\n${lines[name].join("\n")}\n`;
  const defaults =
    '\ndefaults:\n  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu, flavor_id: m1.small }\n';
  return {
    text:
      head + section("vars") + defaults + section("vms") + section("volumes") + section("groups") + section("outputs"),
    blocks: Array.from({ length: count }, (_, at) => [`vm.vm${at}`, `group.group${at}`]).flat(),
  };
}

const other = (name: string): Other => ({
  name,
  state: `../${name}/reconcile.state.json`,
  isIt: (state) => state.includes(`/${name}/`),
});

const move = (
  source: readonly ConfigSource[],
  target: readonly ConfigSource[],
  parts: readonly string[] | "all",
  names: readonly [string, string],
) =>
  divide({
    source,
    target,
    targetFile: `${names[1]}/reconcile.yaml`,
    parts,
    others: { source: other(names[0]), target: other(names[1]) },
    rebase: (path) => path,
  });

const read = (sources: readonly ConfigSource[]): Desired => {
  const { desired, diagnostics } = readDesired(sources, { external: "later" });
  if (desired === undefined)
    throw new Error(JSON.stringify(diagnostics.map(({ summary, source }) => [summary, source])));
  return desired;
};

const places = new Set(["source", "inherited", "rulePlaces", "files", "commandFile", "protectedAt"]);
const meaning = ({ resources }: Desired): string[] =>
  resources.map((one) => JSON.stringify(one, (key, value: unknown) => (places.has(key) ? undefined : value))).sort();
const commentsIn = (sources: readonly ConfigSource[]): string[] =>
  sources.flatMap(({ text }) => text.match(/#.*$/gm) ?? []).sort();

describe("generated projects, cut at random", () => {
  it("declare together what they declared before, keep every comment, and say the same again when they are joined", () => {
    let [cut, refused] = [0, 0];
    for (let seed = 1; seed <= runs; seed++) {
      const { text, blocks } = project(seed);
      const { often } = chance(seed + 100_000);
      const source = [{ file: "shop/reconcile.yaml", text }];
      const before = read(source);
      const chosen = blocks.filter(() => often(0.4));
      // A volume goes with its VM.
      const parts = [
        ...chosen,
        ...before.resources.flatMap((one) =>
          one.kind === "volume" &&
          one.attachTo !== undefined &&
          "address" in one.attachTo &&
          chosen.includes(one.attachTo.address.replace(/\[.*/, ""))
            ? [one.address]
            : [],
        ),
      ];
      if (parts.length === 0) continue;
      const there = move(source, [], parts, ["shop", "database"]);
      if ("problems" in there) {
        refused++;
        expect(there.problems.map(({ summary }) => summary).join(), `seed ${seed}`).toMatch(/circle/);
        continue;
      }
      cut++;
      const [shop, database] = [read(there.source), read(there.target)];
      const addresses = (desired: Desired): string[] => desired.resources.map(({ address }) => address);
      expect([...addresses(shop), ...addresses(database)].sort(), `seed ${seed}`).toEqual(addresses(before).sort());
      expect(
        addresses(database).every((address) => parts.includes(address.replace(/\[.*/, ""))),
        `seed ${seed}`,
      ).toBe(true);
      const copies = commentsIn(there.target).filter((comment) => commentsIn(there.source).includes(comment));
      const left = [...commentsIn(there.source), ...commentsIn(there.target)];
      for (const comment of copies) left.splice(left.indexOf(comment), 1);
      expect(left.sort(), `seed ${seed}`).toEqual(commentsIn(source));
      const back = move(there.target, there.source, "all", ["database", "shop"]);
      if ("problems" in back) throw new Error(`seed ${seed}: ${JSON.stringify(back.problems)}`);
      expect(meaning(read(back.target)), `seed ${seed}`).toEqual(meaning(before));
      expect(read(back.source).resources, `seed ${seed}`).toEqual([]);
      expect(back.target[0]!.text, `seed ${seed}`).not.toContain("${read.");
    }
    countCampaign("generated projects that were cut and joined", cut, 0);
    expect(cut).toBeGreaterThan(runs / 2);
    expect(refused).toBeLessThan(runs / 2);
  });
});
