/** The desired state as a value: spellings of one meaning are one, different meanings never merge, nothing throws. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { collectProblems } from "../../reconciler/config/problems";
import { readDesired } from "../../reconciler/config/read/desired";
import { starterText } from "../../reconciler/config/starter";
import { readWhole } from "../../reconciler/config/yaml/library";
import { cutIntoPieces } from "../../reconciler/config/yaml/pieces";
import { readYaml } from "../../reconciler/config/yaml/reader";
import { parseCidr } from "../../reconciler/core/canonical/cidr";
import { ruleKey, sortRules } from "../../reconciler/core/canonical/rules";
import type { DesiredGroup } from "../../reconciler/core/model/desired";
import type { Rule } from "../../reconciler/core/model/rule";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { diagnosticsText } from "../../reconciler/report/diagnostics-text";
import { head, withoutSources } from "../support/desired-file";

const octet = fc.integer({ min: 0, max: 255 });
const cidr4 = fc.record({ address: fc.tuple(octet, octet, octet, octet), prefix: fc.integer({ min: 0, max: 32 }) });
const word6 = fc.integer({ min: 0, max: 0xffff });
const cidr6 = fc.record({
  address: fc.array(word6, { minLength: 8, maxLength: 8 }),
  prefix: fc.integer({ min: 0, max: 128 }),
});

/** A rule as a meaning: bits and numbers, no spelling. */
interface Meaning {
  readonly direction: "ingress" | "egress";
  readonly protocol: "any" | "tcp" | "udp" | "icmp";
  readonly ports: readonly [number, number];
  readonly remote: { family: 4 | 6; bits: string } | { group: "aaa" | "bbb" };
}
const bitsOf = (numbers: readonly number[], width: number, prefix: number) =>
  numbers
    .map((number) => number.toString(2).padStart(width, "0"))
    .join("")
    .slice(0, prefix);
const meaning: fc.Arbitrary<Meaning> = fc.record({
  direction: fc.constantFrom("ingress", "egress"),
  protocol: fc.constantFrom("any", "tcp", "udp", "icmp"),
  ports: fc.oneof(
    fc.constant([1, 65535] as const),
    fc
      .tuple(fc.integer({ min: 1, max: 65535 }), fc.integer({ min: 1, max: 65535 }))
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    fc.integer({ min: 1, max: 4 }).map((port) => [port, port] as const),
  ),
  remote: fc.oneof(
    cidr4.map(({ address, prefix }) => ({ family: 4 as const, bits: bitsOf(address, 8, prefix) })),
    cidr6.map(({ address, prefix }) => ({ family: 6 as const, bits: bitsOf(address, 16, prefix) })),
    fc.constantFrom("", "00001010", "0000101000000001").map((bits) => ({ family: 4 as const, bits })),
    fc.constantFrom("aaa" as const, "bbb" as const).map((group) => ({ group })),
  ),
});
const same = (a: Meaning, b: Meaning) => JSON.stringify(normal(a)) === JSON.stringify(normal(b));
const normal = (one: Meaning) =>
  one.protocol === "tcp" || one.protocol === "udp" ? one : { ...one, ports: [1, 65535] as const };

/** One of the many ways to write a meaning, chosen by `pick`. */
function spell(one: Meaning, pick: (choices: number) => number): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  if (one.direction === "egress" || pick(2) === 0) written["direction"] = one.direction;
  if (one.protocol !== "any" || pick(2) === 0)
    written["protocol"] = [
      one.protocol,
      one.protocol.toUpperCase(),
      one.protocol.replace(/^./, (c) => c.toUpperCase()),
    ][pick(3)];
  const [min, max] = one.ports;
  if ((one.protocol === "tcp" || one.protocol === "udp") && (min > 1 || max < 65535 || pick(2) === 0))
    written["dst_port"] = min === max && pick(3) > 0 ? [min, String(min)][pick(2)] : `${min}-${max}`;
  if ("group" in one.remote) written["remote_group"] = [one.remote.group, `group.${one.remote.group}`][pick(2)];
  else {
    const { family, bits } = one.remote;
    const width = family === 4 ? 8 : 16;
    // Bits behind the prefix say nothing.
    const all = [...bits.padEnd(family === 4 ? 32 : 128, "x")]
      .map((bit) => (bit === "x" ? String(pick(2)) : bit))
      .join("");
    const numbers = all.match(new RegExp(`.{${width}}`, "g"))!.map((part) => Number.parseInt(part, 2));
    const address =
      family === 4
        ? numbers.join(".")
        : numbers
            .map((n) => [n.toString(16), n.toString(16).toUpperCase(), n.toString(16).padStart(4, "0")][pick(3)])
            .join(":");
    const isEveryone = bits === "";
    const isSingle = all.length === bits.length;
    if (!isEveryone || family === 6 || pick(2) === 0)
      written["remote_ip"] = isSingle && pick(2) === 0 ? address : `${address}/${bits.length}`;
    if (family === 6 && isEveryone && pick(3) === 0) {
      written["ethertype"] = "IPv6";
      delete written["remote_ip"];
    } else if (pick(2) === 0) written["ethertype"] = `IPv${family}`;
  }
  if (pick(3) === 0) written["description"] = `remark ${pick(9)}`;
  const keys = Object.keys(written);
  return Object.fromEntries((pick(2) === 0 ? keys : keys.toReversed()).map((key) => [key, written[key]]));
}

const picks = fc.array(fc.nat({ max: 1000 }), { minLength: 160, maxLength: 200 });
const picker = (numbers: readonly number[]) => {
  let at = 0;
  return (choices: number) => numbers[at++ % numbers.length]! % choices;
};
const readRules = (...rules: Record<string, unknown>[]) =>
  readDesired([{ file: "f", text: stringify({ version: 1, groups: { aaa: { rules }, bbb: null } }) }]);
const keyOf = (written: Record<string, unknown>): string => {
  const { desired, diagnostics } = readRules(written);
  if (desired === undefined) throw new Error(JSON.stringify([written, diagnostics]));
  return ruleKey((desired.resources[0] as DesiredGroup).rules[0]!);
};

describe("the canonical form of rules", () => {
  it("is one for all spellings of a meaning", () => {
    fc.assert(
      fc.property(meaning, picks, picks, (one, a, b) => {
        expect(keyOf(spell(one, picker(a)))).toBe(keyOf(spell(one, picker(b))));
      }),
      { numRuns: 250 },
    );
  });
  it("keeps different meanings apart, and calls two spellings of one in a group identical", () => {
    fc.assert(
      fc.property(meaning, meaning, picks, fc.boolean(), (one, other, numbers, again) => {
        const second = again ? one : other;
        const pick = picker(numbers);
        const [a, b] = [spell(one, pick), spell(second, pick)];
        const isSame = same(one, second);
        expect(keyOf(a) === keyOf(b)).toBe(isSame);
        expect(readRules(a, b).diagnostics.map(({ code }) => code)).toEqual(isSame ? ["config/duplicate-rule"] : []);
      }),
      { numRuns: 250 },
    );
  });
  it("of a canonical rule is the rule itself", () => {
    fc.assert(
      fc.property(fc.array(meaning, { maxLength: 5 }), picks, (meanings, numbers) => {
        const pick = picker(numbers);
        const rules = meanings.flatMap(
          (one) => (readRules(spell(one, pick)).desired!.resources[0] as DesiredGroup).rules,
        );
        const once = sortRules(rules);
        expect(sortRules(once)).toEqual(once);
        const again = readRules(...once.map(written)).desired?.resources[0] as DesiredGroup;
        expect(again.rules).toEqual(once);
      }),
      { numRuns: 200 },
    );
  });
  it("of a CIDR's text is that text", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.string()),
        fc.nat({ max: 128 }),
        (address, prefix) => {
          const cidr = parseCidr(`${address}/${prefix}`);
          if (cidr !== undefined) expect(parseCidr(cidr.text)).toEqual(cidr);
        },
      ),
      { numRuns: 600 },
    );
  });
});

/** A canonical rule, written in the words of the file. */
const written = (rule: Rule): Record<string, unknown> => ({
  direction: rule.direction,
  ethertype: rule.ethertype,
  protocol: rule.protocol,
  ...(rule.ports === undefined ? {} : { dst_port: `${rule.ports.min}-${rule.ports.max}` }),
  ...(rule.remote.kind === "cidr" ? { remote_ip: rule.remote.cidr } : {}),
  ...(rule.remote.kind === "group" ? { remote_group: (rule.remote.group as { address: string }).address } : {}),
  ...(rule.description === undefined ? {} : { description: rule.description }),
});

const vmFields = fc.record(
  {
    size: fc.integer({ min: 1, max: 1600 }),
    root_size: fc.integer({ min: 1, max: 200 }),
    flavor_id: fc.constantFrom("f1", "f2"),
    power: fc.constantFrom("running", "stopped"),
    skip_floating_ip: fc.boolean(),
  },
  { requiredKeys: [] },
);
const world = fc.record({
  vms: fc.dictionary(fc.stringMatching(/^[a-z]{3,8}$/), vmFields, { maxKeys: 5 }),
  volumes: fc.dictionary(fc.stringMatching(/^[a-z]{3,8}$/), fc.record({ size: fc.integer({ min: 1, max: 1600 }) }), {
    maxKeys: 5,
  }),
});
const documented = {
  root_size: 50,
  skip_floating_ip: false,
  lifecycle: { prevent_destroy: false, on_image_change: "rebuild" },
};

describe("the desired state", () => {
  it("is one however it is spelt: names in upper case, sizes as text, defaults made explicit, other orders, several files", () => {
    fc.assert(
      fc.property(world, picks, ({ vms, volumes }, numbers) => {
        const pick = picker(numbers);
        const plain = readDesired([{ file: "f", text: head + stringify({ vms, volumes }) }]);
        expect(plain.diagnostics).toEqual([]);
        const otherVms = Object.entries(vms).map(([key, fields]) => {
          const spelt: Record<string, unknown> = { ...fields };
          if (pick(2) === 0) spelt["name"] = key.toUpperCase();
          for (const field of ["size", "root_size"])
            if (spelt[field] !== undefined && pick(2) === 0) spelt[field] = String(spelt[field]);
          const full = pick(2) === 0 ? { ...documented, project: "acme", ...spelt } : spelt;
          return [key, Object.fromEntries(Object.entries(full).reverse())] as const;
        });
        const half = pick(otherVms.length + 1);
        const files = [
          head,
          stringify({ vms: Object.fromEntries(otherVms.slice(half)) }),
          stringify({
            volumes: Object.fromEntries(Object.entries(volumes).reverse()),
            vms: Object.fromEntries(otherVms.slice(0, half)),
          }),
        ];
        if (pick(2) === 0) files.reverse();
        const other = readDesired(files.map((text, index) => ({ file: `${index}`, text })));
        expect(other.diagnostics).toEqual([]);
        expect(withoutSources(other.desired)).toEqual(withoutSources(plain.desired));
      }),
      { numRuns: 200 },
    );
  });
});

const seeds = [
  starterText("x.json"),
  `${head}vms:
  db: { name: the-db, lifecycle: { verify_resize: { check: { command: [a, "b c"] }, timeout: 2m } } }
  web:
    for_each: { a: { zone: x }, b: { zone: y } }
    name: web-\${each}-\${each.value.zone}
volumes:
  data: { for_each: 3, size: "\${var.size}", attach_to: web[a], flush: { via: command, command: [sync] } }
groups:
  web: &g
    description: >-
      some
      text
    rules:
      - { protocol: tcp, dst_port: 8000-8010, remote_group: self }
      - { ethertype: IPv6, remote_ip: "2001:db8::/32" }
  other: { <<: *g, rules: [] }
vars: { size: { default: 5 } }
imports: [ { to: vm.db, name: x } ]
moved: [ { from: vm.a, to: vm.b }, { from: vm.b, to: vm.db } ]
removed: [ { from: volume.x } ]
`,
];
const snippets = [
  "null",
  "{}",
  "[]",
  "-1",
  "1e999",
  ".nan",
  "${",
  "${each}",
  "${var.size}",
  "*g",
  "&g ",
  "<<: ",
  "!!int ",
  "\t",
  "\u0000",
  "\u001b[2J",
  "\ufffd",
  "\ud800",
  "__proto__",
  "constructor",
  ": ",
  "- ",
  "? ",
  "|\n",
  "---\n",
  '"',
  "'",
  "\r",
  "{",
  "}",
  "[",
  "]",
  "#",
  "\n  ",
  "self",
  "vm.web",
  "for_each",
];
const mutation = fc.record({
  at: fc.nat(),
  cut: fc.nat({ max: 12 }),
  insert: fc.oneof(fc.constantFrom(...snippets), fc.string({ maxLength: 6, unit: "binary" })),
});
const mutated = fc
  .tuple(fc.constantFrom(...seeds), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([seed, mutations]) => {
    let text = seed;
    for (const { at, cut, insert } of mutations) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + insert + text.slice(from + cut);
    }
    return text;
  });

describe("a file that was damaged at random", () => {
  it("gives a desired state or the reasons why not, never an exception, and nothing that moves a cursor", () => {
    fc.assert(
      fc.property(mutated, (text) => {
        const { desired, diagnostics } = readDesired([{ file: "f.yaml", text }], { vars: {} });
        expect(desired === undefined).toBe(diagnostics.some(({ severity }) => severity === "error"));
        expect(diagnosticsText(diagnostics)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        for (const { source } of diagnostics)
          if (source !== undefined) expect(source.line).toBeLessThanOrEqual(text.split("\n").length);
      }),
      { numRuns: 300 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
  it("reads the same in pieces and as a whole", () => {
    fc.assert(
      fc.property(mutated, (text) => {
        // Refused before anybody reads it.
        fc.pre(!/[\u0000\ufffd]|^\ufeff/.test(text));
        const source = { file: "f", text };
        const [inPieces, asWhole] = [collectProblems(), collectProblems()];
        const pieces = readYaml(source, inPieces, (all) => cutIntoPieces(all, 0, 1)).root;
        const whole = readWhole({ ...source, root: undefined }, asWhole);
        expect(inPieces.diagnostics).toEqual(asWhole.diagnostics);
        expect(canonicalJson(pieces)).toBe(canonicalJson(whole));
      }),
      { numRuns: 300 },
    );
  });
});
