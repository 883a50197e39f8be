/** What is to know of one volume alone. */
import { flag, optional, text } from "../../core/model/checks";
import { volumeFields } from "../../core/model/fields";
import { behavingAs, fieldsOfRecord, isUnseenList, type KindFacts, owes, source } from "../../core/model/kind-facts";

export const volumeFacts: KindFacts<"volume"> = {
  references: ({ attachTo }) => (attachTo === undefined ? [] : [attachTo]),
  renamed: (desired, named) =>
    desired.attachTo === undefined ? desired : { ...desired, attachTo: named(desired.attachTo, "vm") },
  names: ({ attachedTo, attaching, detaching, goesBackTo, stoppedVm }) =>
    [attachedTo, attaching, detaching, goesBackTo, stoppedVm].flatMap((id) => id ?? []),
  keeps: () => [],
  memory: () => ({
    id: text,
    attachedTo: optional(text),
    deleting: optional(flag),
    stillToSet: optional(text),
    attaching: optional(text),
    detaching: optional(text),
    goesBackTo: optional(text),
    stoppedVm: optional(text),
    owes,
    unseen: isUnseenList,
    preventDestroy: flag,
  }),
  wish(record) {
    const { fields, unknown } = fieldsOfRecord(volumeFields, record);
    return {
      kind: "volume",
      address: record.address,
      ...fields,
      attachTo: record.attachedTo === undefined ? undefined : { id: record.attachedTo },
      lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown },
      source,
    };
  },
  behaving: (wish, now) =>
    now === undefined
      ? wish
      : {
          ...wish,
          flush: now.flush,
          afterAttach: now.afterAttach,
          commandFile: now.commandFile,
          commandFiles: now.commandFiles,
          lifecycle: behavingAs(now.lifecycle, wish),
          source: now.source,
        },
};
