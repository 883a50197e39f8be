/** References from one part of the fleet to another, and circles of stacks. */
import type { Problem } from "../../config/problems";
import { offsetOfPath, type YamlFile } from "../../config/yaml/file";
import { nearestText } from "../../core/text/nearest";
import { fieldsIn } from "../../core/text/objects";
import { sharedStates } from "../may-read";
import { type Fleet, fitsAny, type StackSpec } from "../model";
import { hostedAt } from "../sources/change";

/** One file of a fleet. */
export interface FleetPart {
  readonly file: YamlFile;
  readonly fleet: Fleet;
}

/** Problems of references, which are reported only when every file could be read. */
export function referenceProblems(fleet: Fleet, parts: readonly FleetPart[]): Problem[] {
  const places = placesOf(parts);
  return [
    ...saidTwice(fleet, parts, places),
    ...unknownNames(fleet, places),
    ...tokensOfSeveralHosts(fleet, places),
    ...sharedStates(fleet.stacks).flatMap(([first, ...others]) =>
      others.map((other) => ({
        code: "fleet/same-state" as const,
        summary: `the stacks ${first} and ${other} have one state: each would take away what the other one makes`,
        detail: fleet.stacks.find(({ name }) => name === other)?.state,
        fix: "give each a place of its own, such as one that ends in ?state=${stack}",
        at: places("stacks", other),
      })),
    ),
    ...circlesOf(fleet.stacks).map((circle) => ({
      code: "fleet/circle" as const,
      summary: `the stacks depend on each other in a circle: ${circle.join(" -> ")}`,
      fix: "take one depends_on or input out of it",
      at: places("stacks", circle[0] ?? ""),
    })),
  ];
}

function saidTwice({ services, tenants, stacks }: Fleet, parts: readonly FleetPart[], places: Places): Problem[] {
  const twice = (summary: string, at: Problem["at"]): Problem => ({
    code: "fleet/twice",
    summary,
    fix: "keep one of them",
    at,
  });
  const named = Object.entries({ service: services, tenant: tenants, stack: stacks }).flatMap(([what, all]) => {
    const names = all.map(({ name }) => name);
    const again = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    return [...again].map((name) => twice(`the ${what} ${name} is in two files`, places(`${what}s`, name)));
  });
  const whole = sections.filter(([name]) => parts.filter(({ fleet }) => fleet[name] !== undefined).length > 1);
  return [...named, ...whole.map(([, section]) => twice(`${section} is in two files`, places(section)))];
}

function unknownNames({ services, tenants, stacks, generators }: Fleet, places: Places): Problem[] {
  const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
  const known = {
    service: new Set(namesOf(services)),
    tenant: new Set(["default", ...namesOf(tenants)]),
    stack: new Set(namesOf(stacks)),
  };
  const wanting = [
    ...stacks.map((stack) => ({ ...stack, at: places("stacks", stack.name) })),
    ...generators.map(({ template }) => ({ ...template, at: places("generate") })),
  ];
  return wanting.flatMap(({ service, tenant, dependsOn, at }) => {
    const unknownAmong = (what: keyof typeof known, wanted: readonly string[]): Problem[] =>
      wanted.filter((one) => !known[what].has(one)).map((one) => unknown(what, one, known[what], at));
    return [
      ...unknownAmong("service", service === undefined ? [] : [service]),
      ...unknownAmong("tenant", [tenant]),
      // The names of generated stacks are not known yet.
      ...unknownAmong("stack", generators.length > 0 ? [] : dependsOn),
    ];
  });
}

const tokensOfSeveralHosts = (fleet: Fleet, places: Places): Problem[] =>
  (fleet.channels ?? []).flatMap(({ stacks, to }) => {
    const hosts = to.kind === "commit_status" && to.api === undefined ? hostsOfStacks(fleet, stacks) : [];
    if (hosts.length < 2) return [];
    return {
      code: "fleet/bad-notify" as const,
      summary: `the token of commit_status would be sent to ${hosts.join(" and ")}, and it is of one of them`,
      fix: "write stacks: [NAME…] there, and a receiver with its own token for each host",
      at: places("notify"),
    };
  });

/** Where the repositories of these stacks are; no pattern: of all. */
function hostsOfStacks({ stacks, generators }: Fleet, patterns: readonly string[]): readonly string[] {
  const meant = [...stacks.filter(({ name }) => fitsAny(patterns, name)), ...(patterns.length === 0 ? generators : [])];
  const hosts = meant.flatMap(({ source }) => (source.kind === "git" ? (hostedAt(source.url)?.host ?? []) : []));
  return [...new Set(hosts)].sort();
}

/** What a fleet has once, and its name in the file. */
const sections = [
  ["signIn", "sign_in"],
  ["follow", "follow"],
  ["history", "history"],
] as const satisfies readonly (readonly [keyof Fleet, string])[];

type Places = (section: string, name?: string) => Problem["at"];

const placesOf =
  (parts: readonly FleetPart[]): Places =>
  (section, name) => {
    for (const { file } of [...parts].reverse()) {
      const found: unknown = fieldsIn(file.root)[section];
      if (name === undefined ? found !== undefined : Object.hasOwn(fieldsIn(found), name))
        return {
          source: file,
          offset: offsetOfPath(file.root, name === undefined ? [section] : [section, name], "key").offset,
        };
    }
    return undefined;
  };

function unknown(
  what: "service" | "tenant" | "stack",
  name: string,
  known: Iterable<string>,
  at: Problem["at"],
): Problem {
  const names = [...known];
  return {
    code: `fleet/unknown-${what}` as const,
    summary: `there is no ${what} ${name} in this fleet`,
    detail: names.length === 0 ? `it has no ${what} at all` : `it has ${names.slice(0, 12).join(", ")}`,
    fix: nearestText(name, names, (near) => `write ${near}`) ?? `declare it under ${what}s`,
    at,
  };
}

/** Each circle once, from its first stack by name and back to that stack. */
function circlesOf(stacks: readonly Pick<StackSpec, "name" | "dependsOn">[]): string[][] {
  const needs = new Map(stacks.map(({ name, dependsOn }) => [name, dependsOn]));
  const done = new Set<string>();
  const circles: string[][] = [];
  for (const { name } of stacks) {
    const path: string[] = [];
    const visit = (at: string): void => {
      if (done.has(at) || !needs.has(at)) return;
      const begins = path.indexOf(at);
      if (begins !== -1) {
        circles.push([...path.slice(begins), at]);
        return;
      }
      path.push(at);
      for (const next of needs.get(at) ?? []) visit(next);
      path.pop();
      done.add(at);
    };
    visit(name);
  }
  return circles;
}
