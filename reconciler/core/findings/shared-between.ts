/**
 * What two environments of one file share and may not: a state, and names in one project of one service. Whoever is
 * applied second finds the name taken, and would take the other's resource for its own.
 */

import type { Address } from "../model/address";
import type { Desired, DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { kindRows, ofKind } from "../model/kinds";
import { listText } from "../text/list-text";
import { appendTo, groupedBy } from "../text/objects";
import { isUrl } from "../text/outside-policy";

/** `originAt`: the service at a base URL, however that is written. */
export function sharedBetween(
  environments: ReadonlyMap<string, Desired>,
  originAt: (baseUrl: string) => string,
): Diagnostic[] {
  return [...statesInSeveral(environments), ...sharedNames(environments, originAt)];
}

function statesInSeveral(environments: ReadonlyMap<string, Desired>): Diagnostic[] {
  const named = [...environments].flatMap(([environment, { state }]) =>
    state === undefined ? [] : [{ environment, ...state }],
  );
  return [...groupedBy(named, placeOf).values()].flatMap((found): Diagnostic[] => {
    const [{ location, source }] = found;
    if (found.length < 2) return [];
    return [
      {
        severity: "error",
        code: "config/shared-state",
        summary: `the state ${location} is named for ${listText(found.map(({ environment }) => environment))}`,
        detail: "a state is of one environment: the one that is applied second is refused",
        fix: "put the environment into its place, as in ${env}.state.json, or leave it out: each has one of its own then",
        source,
      },
    ];
  });
}

/** A path is relative to the file that names it. */
const placeOf = ({ location, source }: NonNullable<Desired["state"]>): string =>
  isUrl(location) ? location : `${source.file.replace(/[^/\\]*$/, "")}${location.replace(/^(?:\.\/)+/, "")}`;

function sharedNames(environments: ReadonlyMap<string, Desired>, originAt: (baseUrl: string) => string): Diagnostic[] {
  const bearers = new Map<string, { readonly environment: string; readonly resource: DesiredResource }[]>();
  for (const [environment, desired] of environments)
    for (const resource of desired.resources) {
      const project = ofKind(resource, "vm")?.project ?? desired.project ?? "";
      const key = JSON.stringify([resource.kind, resource.name, project, originAt(desired.service.baseUrl ?? "")]);
      appendTo(bearers, key, { environment, resource });
    }
  return [...bearers.values()].flatMap((found) => {
    const [first] = found;
    if (first === undefined || new Set(found.map(({ environment }) => environment)).size < 2) return [];
    const { resource } = first;
    const { kind, name, address, source } = resource;
    return [
      {
        severity: "error",
        code: "config/shared-name",
        summary: `the ${kindRows[kind].fullNoun} ${name} is wanted by ${found.map((one) => `${one.environment} (${one.resource.address})`).join(" and ")}`,
        detail:
          "they are in one project of one service: one environment would find the other's and take it for its own",
        fix: `put the environment into the name: ${isOfSeveral(address) ? "write ${env} there beside what stands in it now" : `name: "\${env}-${name}"`}`,
        address,
        source,
      },
    ];
  });
}

/** What a for_each or a component names is written once for all its instances or uses. */
const isOfSeveral = (address: Address): boolean => /[[/]/.test(address);
