/** What a volume of the service is in a file, and what the file has to be told (kinds/volume/block.ts). */
import { expect, it } from "vitest";
import { createNames } from "../../reconciler/config/live-blocks";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { blockOfVolume } from "../../reconciler/kinds/volume/block";

const size = "fill in: size (the service does not show it)";
const attachment = "where it is attached is not shown; write it as attach_to:";
const volume = (over: Pick<LiveVolume, "sizeGb" | "attachedTo">): LiveVolume => ({
  kind: "volume",
  id: "v-1",
  name: "data",
  failed: false,
  ...over,
});

it("a name that no file can have as a key is a name alone", () => {
  const block = blockOfVolume({ ...volume({ sizeGb: 5 }), name: "__proto__" }, undefined, createNames());
  expect(block).toMatchObject({ key: "unnamed", fields: { name: "__proto__" } });
});

it.each<readonly [what: string, live: LiveVolume, host: string | undefined, fields: object, notes: readonly string[]]>([
  ["whole", volume({ sizeGb: 5, attachedTo: "vm-1" }), "web", { size: 5, attach_to: "web" }, []],
  ["on no VM", volume({ sizeGb: 5, attachedTo: null }), undefined, { size: 5 }, []],
  ["without a size", volume({ attachedTo: null }), undefined, {}, [size]],
  ["without a sign of a VM", volume({ sizeGb: 5 }), undefined, { size: 5 }, [attachment]],
  ["without both", volume({}), undefined, {}, [size, attachment]],
])("a volume that shows itself %s", (_, live, host, fields, notes) => {
  const block = blockOfVolume(live, host, createNames());
  expect(block).toMatchObject({ kind: "volume", key: "data", id: "v-1", notes });
  const { size: sizeGb, attach_to: attachedTo } = block.fields;
  expect(JSON.parse(JSON.stringify({ size: sizeGb, attach_to: attachedTo }))).toEqual(fields);
});
