/** The record of what a create has made, once its id is known. */

import { groupMade } from "../../kinds/group/made";
import { vmMade } from "../../kinds/vm/made";
import { ofKind } from "../model/kinds";
import type { RecordedResource, RecordToMake } from "../model/recorded";
import { asRecord } from "../model/usual";
import type { SeenMade } from "./records";

export function recordOfMade(made: RecordToMake, id: string, seen: SeenMade): RecordedResource {
  const vm = ofKind(made, "vm");
  const group = ofKind(made, "group");
  if (vm !== undefined) return vmMade(vm, id, seen);
  // The record of an intent is a whole one but for its id.
  return group === undefined ? asRecord({ ...made, id }) : groupMade(group, id, seen);
}
