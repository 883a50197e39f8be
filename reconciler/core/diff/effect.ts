/** Whether a look shows what a write was to bring about. */
import { canonicalLiveRule, ruleKey } from "../canonical/rules";
import type { EffectField, Expected, UnseenWrite } from "../model/effect";
import { type FieldRow, fieldsOf } from "../model/fields";
import type { Kind } from "../model/kinds";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../model/live";
import { hostOf } from "../model/relations";
import { fieldsIn } from "../text/objects";

/** `hidden`: the record that was read does not have the field. */
export type FieldSight = "shown" | "not-shown" | "hidden";

type ExpectedField = Pick<Expected, "field" | "value">;

const shownIf = (shows: boolean | undefined): FieldSight =>
  shows === undefined ? "hidden" : shows ? "shown" : "not-shown";

/** `live`: `undefined` where the service has no such resource. */
export function showsEffect<K extends Kind>(asked: ExpectedField, live: LiveOf[K] | undefined): FieldSight {
  if (asked.field === "absence") return shownIf(live === undefined);
  if (live === undefined) return "not-shown";
  if (asked.field === "existence") return "shown";
  switch (live.kind) {
    case "vm":
      return vmShows(asked, live);
    case "volume":
      return volumeShows(asked, live);
    case "group":
      return groupShows(asked, live);
    default:
      return rowShows(asked, live satisfies never);
  }
}

/** Of a kind that is its rows alone: the key of the row, or the one under which its host shows. */
function rowShows({ field, value }: ExpectedField, live: { readonly kind: Kind }): FieldSight {
  const [key, row] = Object.entries<FieldRow>(fieldsOf[live.kind]).find(([, one]) => one.field === field) ?? [];
  if (key === undefined || row === undefined) return "hidden";
  const host = hostOf[live.kind];
  const shown = fieldsIn(live)[host?.field === key ? host.recorded : key];
  return shownIf(shown === undefined ? undefined : String(shown) === value);
}

function vmShows({ field, value }: ExpectedField, { name, status, phase, floatingIp }: LiveVm): FieldSight {
  if (field === "name") return shownIf(name.toLowerCase() === value);
  if (field === "power") return shownIf(status === undefined ? undefined : phase === value);
  if (field === "skip_floating_ip") return shownIf((floatingIp === undefined) === (value === "true"));
  return "hidden";
}

function volumeShows({ field, value }: ExpectedField, { name, sizeGb, attachedTo }: LiveVolume): FieldSight {
  if (field === "name") return shownIf(name === undefined ? undefined : name.toLowerCase() === value);
  if (field === "size") return shownIf(sizeGb === undefined ? undefined : sizeGb === Number(value));
  if (field === "attach_to") return shownIf(attachedTo === undefined ? undefined : attachedTo === value);
  if (field === "detached") return shownIf(attachedTo === undefined ? undefined : attachedTo !== value);
  return "hidden";
}

function groupShows({ field, value }: ExpectedField, { name, description, rules }: LiveGroup): FieldSight {
  if (field === "name") return shownIf(name === undefined ? undefined : name.toLowerCase() === value);
  // A description that is empty may be left out.
  if (field === "description")
    return description === undefined && value !== "" ? "hidden" : shownIf((description ?? "") === value);
  if (field === "rule") return shownIf(rules?.some((rule) => ruleKey(canonicalLiveRule(rule)) === value));
  if (field === "removed rule") return shownIf(rules?.every(({ id }) => id !== value));
  return "hidden";
}

/** Fields of which a look at the resource shows how they are now, whatever they were to become, by what its record calls them. */
const plainly: Partial<Readonly<Record<EffectField, string>>> = { flavor_id: "flavor", image_id: "image" };

/** No plan compares an address that the service gave with what was asked for, so that none is planned proves nothing. */
const isCompared = (field: EffectField): boolean => field !== "skip_floating_ip";

const showsHowItIs = (field: EffectField, live: object): boolean =>
  plainly[field] !== undefined && fieldsIn(live)[plainly[field]] !== undefined;

/**
 * The writes of a record that are still unseen after a look. What shows by now is settled, and so is what differs and
 * nobody wants any more. `isAsWished`: nothing is planned for the resource.
 */
export const stillUnseen = <K extends Kind>(
  writes: readonly UnseenWrite[],
  live: LiveOf[K] | undefined,
  isAsWished: boolean,
): readonly UnseenWrite[] =>
  live === undefined
    ? writes
    : writes.filter((write) => {
        const shown = showsEffect(write, live);
        if (shown === "hidden") return !(isAsWished && showsHowItIs(write.field, live));
        return shown === "not-shown" && !(isAsWished && isCompared(write.field));
      });
