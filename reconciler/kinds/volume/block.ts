/** What the service shows of a volume, as a block of a file. */
import { lifecycleBlock, type NamesTaken, nameBlock } from "../../config/live-blocks";
import type { Plain, YamlBlock } from "../../config/yaml/write";
import type { LiveVolume } from "../../core/model/live";
import { onlyDefined } from "../../core/text/objects";

/** `attachTo`: a key or an id of the VM it is on. */
export function blockOfVolume(
  volume: LiveVolume,
  attachTo: Plain | undefined,
  names: NamesTaken,
  key?: string,
): YamlBlock {
  const naming = nameBlock("volume", volume, names, key);
  const notes = [...naming.notes];
  if (volume.sizeGb === undefined) notes.push("fill in: size (the service does not show it)");
  if (volume.attachedTo === undefined) notes.push("where it is attached is not shown; write it as attach_to:");
  return {
    kind: "volume",
    key: naming.key,
    fields: {
      ...naming.fields,
      ...onlyDefined({ size: volume.sizeGb, attach_to: attachTo }),
      ...lifecycleBlock(naming.ignored),
    },
    notes,
    id: volume.id,
  };
}
