/** References from one part of the fleet to another, and circles of stacks. */
import type { Problem } from "../../config/problems";
import { offsetOfPath, type YamlFile } from "../../config/yaml/file";
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
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
  const problems: Problem[] = [];
  const places = placesOf(parts);
  const services = fleet.services.map(({ name }) => name);
  const tenants = ["default", ...fleet.tenants.map(({ name }) => name)];
  const stacks = new Set(fleet.stacks.map(({ name }) => name));
  for (const [list, what] of [
    [services, "service"],
    [fleet.tenants.map(({ name }) => name), "tenant"],
    [fleet.stacks.map(({ name }) => name), "stack"],
  ] as const)
    for (const name of new Set(list.filter((one, index) => list.indexOf(one) !== index)))
      problems.push({
        code: "fleet/twice",
        summary: `the ${what} ${name} is in two files`,
        fix: "keep one of them",
        at: places(what === "stack" ? "stacks" : `${what}s`, name),
      });
  for (const [name, section] of sections)
    if (parts.filter(({ fleet: part }) => part[name] !== undefined).length > 1)
      problems.push({
        code: "fleet/twice",
        summary: `${section} is in two files`,
        fix: "keep one of them",
        at: places(section),
      });
  for (const stack of fleet.stacks) {
    const at = places("stacks", stack.name);
    if (stack.service !== undefined && !services.includes(stack.service))
      problems.push(unknown("service", stack.service, services, at));
    if (!tenants.includes(stack.tenant)) problems.push(unknown("tenant", stack.tenant, tenants, at));
    // The names of generated stacks are not known yet.
    if (fleet.generators.length === 0)
      for (const other of stack.dependsOn) if (!stacks.has(other)) problems.push(unknown("stack", other, stacks, at));
  }
  for (const { stacks, to } of fleet.channels ?? []) {
    const hosts = to.kind === "commit_status" && to.api === undefined ? hostsOfStacks(fleet, stacks) : [];
    if (hosts.length > 1)
      problems.push({
        code: "fleet/bad-notify",
        summary: `the token of commit_status would be sent to ${hosts.join(" and ")}, and it is of one of them`,
        fix: "write stacks: [NAME…] there, and a receiver with its own token for each host",
        at: places("notify"),
      });
  }
  for (const [first, ...others] of sharedStates(fleet.stacks))
    for (const other of others)
      problems.push({
        code: "fleet/same-state",
        summary: `the stacks ${first} and ${other} have one state: each would take away what the other one makes`,
        detail: fleet.stacks.find(({ name }) => name === other)?.state,
        fix: "give each a place of its own, such as one that ends in ?state=${stack}",
        at: places("stacks", other),
      });
  for (const circle of circlesOf(fleet.stacks))
    problems.push({
      code: "fleet/circle",
      summary: `the stacks depend on each other in a circle: ${circle.join(" -> ")}`,
      fix: "take one depends_on or input out of it",
      at: places("stacks", circle[0] ?? ""),
    });
  return problems;
}

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

function placesOf(parts: readonly FleetPart[]): (section: string, name?: string) => Problem["at"] {
  return (section, name) => {
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
}

function unknown(
  what: "service" | "tenant" | "stack",
  name: string,
  known: Iterable<string>,
  at: Problem["at"],
): Problem {
  const codes = {
    service: "fleet/unknown-service",
    tenant: "fleet/unknown-tenant",
    stack: "fleet/unknown-stack",
  } as const satisfies Record<typeof what, DiagnosticCode>;
  const names = [...known];
  return {
    code: codes[what],
    summary: `there is no ${what} ${name} in this fleet`,
    detail: names.length === 0 ? `it has no ${what} at all` : `it has ${names.slice(0, 12).join(", ")}`,
    fix: nearestText(name, names, (near) => `write ${near}`) ?? `declare it under ${what}s`,
    at,
  };
}

/** Each circle once, from its first stack by name and back to that stack. */
export function circlesOf(stacks: readonly Pick<StackSpec, "name" | "dependsOn">[]): string[][] {
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
