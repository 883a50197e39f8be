/** Where the states of both projects of a move lie, and how one text names the place in every environment. */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { itemAt } from "../../core/text/invariant";
import { isUrl } from "../../core/text/outside-policy";
import type { Invocation } from "../command";
import { fail, stateFile } from "../compose";
import type { FlagName } from "../flags";
import { defaultFile } from "../workspace";
import type { FleetOfMove } from "./fleet-file";
import { beside, type ProjectFiles, type ProjectState, projectStateOf } from "./project";

type Sided = { readonly giving: ProjectState; readonly taking: ProjectState };
export type BothStates = readonly (readonly [string | undefined, Sided])[];

export async function statesOfBoth(
  source: ProjectFiles,
  target: ProjectFiles,
  environments: readonly (string | undefined)[],
  fleet: FleetOfMove | undefined,
  invocation: Invocation<FlagName>,
): Promise<BothStates> {
  const found: [string | undefined, Sided][] = [];
  for (const environment of environments) {
    const reading = { invocation, environment };
    const giving = await projectStateOf(source, reading, {
      own: true,
      location: fleet?.stateOf("giving", environment),
    });
    const isNew = target.sources.length === 0;
    const usual = isNew ? newLocation(target, environment, giving.location) : undefined;
    const taking = await projectStateOf(target, reading, {
      own: false,
      location: fleet?.stateOf("taking", environment) ?? usual,
    });
    found.push([environment, { giving, taking }]);
  }
  return found;
}

/** The state of a project that is made lies beside its file, under a name that no other file's state has. */
export const stemOfNew = ({ newFile }: ProjectFiles): string => basename(newFile).replace(/\.ya?ml$/i, "");
const hasOwnName = (target: ProjectFiles): boolean =>
  stemOfNew(target) !== "reconcile" && existsSync(join(target.folder, defaultFile));

const newLocation = (target: ProjectFiles, environment: string | undefined, giving: string): string => {
  const usual = join(target.folder, stateFile("reconcile", environment));
  return usual === giving || hasOwnName(target)
    ? join(target.folder, stateFile(stemOfNew(target), environment))
    : usual;
};

/** As the other side writes the place of a state, one text for every environment. */
export function stateAsRead(before: BothStates, side: "giving" | "taking", folder: string): string {
  const places = before.map(([environment, sides]) => {
    const { location } = sides[side];
    return { environment, text: isUrl(location) ? location : beside(folder, location) };
  });
  const text = forEveryEnvironment(places);
  if (text !== undefined) return text;
  throw fail(
    "move/cannot",
    `the states of the environments lie in places that no one text names: ${before.map(([, sides]) => sides[side].location).join(", ")}`,
    "move one environment at a time: --env NAME",
  );
}

interface PlaceOfState {
  readonly environment: string | undefined;
  readonly text: string;
}

/** `${env}` where each environment has its own name. The name of one may also stand in the name of a folder. */
function forEveryEnvironment(places: readonly PlaceOfState[]): string | undefined {
  const [only, ...others] = places;
  if (only?.environment === undefined || others.length === 0) return only === undefined ? "" : withItsName(only);
  let result = "";
  let left = places;
  while (left.some(({ text }) => text !== "")) {
    const isName = left.every(({ environment = "", text }) => text.startsWith(environment));
    const next = itemAt(left, 0).text.slice(0, 1);
    if (!isName && left.some(({ text }) => text.slice(0, 1) !== next)) return undefined;
    result += isName ? "${env}" : next;
    left = left.map(({ environment = "", text }) => ({
      environment,
      text: text.slice(isName ? environment.length : 1),
    }));
  }
  return result;
}

/** Of one environment alone: its name where it is a word of its own, or else wherever it is. */
function withItsName({ environment, text }: PlaceOfState): string {
  if (environment === undefined) return text;
  const own = text.replace(new RegExp(`(?<![A-Za-z0-9])${environment}(?![A-Za-z0-9])`, "g"), () => "${env}");
  return own === text ? text.replaceAll(environment, () => "${env}") : own;
}
