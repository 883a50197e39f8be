/** Block volumes. Where one hangs is a resource of its own, the attachment. */

import { allOfKind } from "../../core/model/kinds";
import type { RecordedVolume } from "../../core/model/recorded";
import { holdBack, patchFor, volumeRecord } from "../../core/plan/records";
import { fieldsIn, onlyDefined } from "../../core/text/objects";
import { createHandler } from "../../one/resource";
import { adopt, flush, flushConfirmed, hostOf, linesFor } from "../../one/shared-properties";

export const volumeHandler = createHandler<"volume">({
  type: "Volume",
  kind: "volume",
  description:
    "A block volume. Grows in place; one that is attached is detached for it (which needs a flush) and attached again.",
  inputs: {
    name: {
      type: "string",
      required: true,
      replaces: true,
      description:
        "The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one.",
    },
    size: {
      type: "integer",
      required: true,
      description: "Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest.",
    },
    flush,
    flushConfirmed,
    adopt,
  },
  outputs: {},
  optional: [],
  deleteBeforeReplace: false,
  write: (inputs) => ({ kind: "volume", lines: linesFor(inputs, ["name", "size", "flush"]) }),
  recordOfLive: (address, live): RecordedVolume => ({
    kind: "volume",
    address,
    id: live.id,
    name: live.name,
    sizeGb: live.sizeGb,
    flush: { via: "ask" },
    preventDestroy: false,
  }),
  drifted: (record, live, change) =>
    holdBack<RecordedVolume>(
      record,
      { ...record, ...onlyDefined({ name: live.name, sizeGb: live.sizeGb }) },
      change.fields.map(({ field }) => field),
    ),
  asSaid: (record, said, fields) =>
    said.kind === "volume" ? { ...record, ...patchFor(volumeRecord(said), fields) } : record,
  stopped: (record, stoppedVm) => ({ ...record, stoppedVm }),
  inputsOf: (record) => ({ name: record.name, size: record.sizeGb }),
  outputsOf: () => ({}),
  noticed: ({ sizeGb }, _steps, inputs = {}) => (typeof inputs["size"] === "number" ? inputs["size"] : sizeGb),
  hangsOn: (live) => live.attachedTo ?? undefined,
  standsOn: (live, inputs) =>
    typeof live.attachedTo === "string" && fieldsIn(inputs["flush"])["via"] === "stop" ? [hostOf(live.attachedTo)] : [],
  lossOfReplacing: ({ name }) =>
    `volume ${String(name)} is replaced by an empty one, and the one that is there is deleted with everything on it`,
  lostWith: ({ sizeGb }) => `, which is empty${sizeGb === undefined ? "" : `: the ${sizeGb} GB are lost`}`,
  /** Attaching again after a grow is no claim on where the volume hangs. A VM that is still to start is kept with it. */
  keep: ({ attachedTo: _attachedTo, ...record }, _declared, beside) => {
    const stopped = allOfKind(beside, "vm").find(({ stoppedForFlush }) => stoppedForFlush === true)?.id;
    return { ...record, ...onlyDefined({ stoppedVm: stopped ?? record.stoppedVm }) };
  },
  isUnsettled: ({ attaching, detaching, stoppedVm }) => (attaching ?? detaching ?? stoppedVm) !== undefined,
});
