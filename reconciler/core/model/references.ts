/** Which other resources a resource of the file names, and the same with each of them named in another way. */
import type { DesiredResource, Reference } from "./desired";

export function referencesIn(resource: DesiredResource): readonly Reference[] {
  switch (resource.kind) {
    case "vm":
      return [];
    case "volume":
      return resource.attachTo === undefined ? [] : [resource.attachTo];
    case "group":
      return resource.rules.flatMap(({ remote }) => (remote.kind === "group" ? [remote.group] : []));
    default:
      return resource satisfies never;
  }
}

export function withReferences(resource: DesiredResource, named: (reference: Reference) => Reference): DesiredResource {
  switch (resource.kind) {
    case "vm":
      return resource;
    case "volume":
      return resource.attachTo === undefined ? resource : { ...resource, attachTo: named(resource.attachTo) };
    case "group":
      return {
        ...resource,
        rules: resource.rules.map((rule) =>
          rule.remote.kind === "group" ? { ...rule, remote: { kind: "group", group: named(rule.remote.group) } } : rule,
        ),
      };
    default:
      return resource satisfies never;
  }
}
