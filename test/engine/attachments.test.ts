/** What an attachment as a resource of its own answers, sends, runs and says (kinds/volume/one-attachment.ts), in virtual time. */
import { describe, expect, it } from "vitest";
import { type Difference, PartialFailure, type Props, unknownValue } from "../../reconciler/one/handler";
import { shortIds, startVirtualProgram } from "../support/virtual-program";
import { builtVm } from "../support/virtual-world";

const full = { with: ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"] };
const command = { command: ["mount", "/data"] };
const confirmed = { flushConfirmed: true };

/** A VM (#5) and a volume (#8) in a service, the commands that were run, and the ends of those to come. */
async function stage() {
  const program = startVirtualProgram(full);
  const ran: string[] = [];
  const ends: number[] = [];
  const process = program.startProcess({
    service: {
      runCommand: async ({ argv }) => {
        ran.push(argv.join(" "));
        return { exitCode: ends.shift() ?? 0, output: "" };
      },
    },
  });
  const host = builtVm(program.emulated);
  await program.client.createVolume("data", 5);
  const ids = { vmId: host.id, volumeId: program.volumes()[0]!.id };
  // Nothing that was looked at before is of use any more.
  await program.clock.sleep(120_000);
  return {
    ...{ program, process, ids, ran, ends },
    attach: (more: Props = {}) => process.create("VolumeAttachment", "att", { ...ids, ...more }),
  };
}
type Stage = Awaited<ReturnType<typeof stage>>;

const answerOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => shortIds(String(one)));
  if (typeof value !== "object" || value === null) return value;
  if ("changes" in value) {
    const { changes, deleteBeforeReplace, warnings } = value as Difference;
    return [
      ...changes.map(({ property, replaces }) => (replaces ? `${property} anew` : property)),
      ...(deleteBeforeReplace ? ["the old one first"] : []),
      ...warnings.map((one) => `warns: ${shortIds(one)}`),
    ];
  }
  return "id" in value ? shortIds(String(value.id)) : value;
};

interface Row {
  /** What happened before, and the call that is asked about. */
  readonly asks: (at: Stage) => Promise<() => Promise<unknown>>;
  readonly answer: unknown;
  readonly sent?: readonly string[];
  readonly ran?: readonly string[];
  readonly says?: readonly unknown[];
}

async function check({ asks, answer, sent = [], ran = [], says = [] }: Row): Promise<void> {
  const at = await stage();
  const call = await asks(at);
  at.program.sent.length = 0;
  at.program.log.length = 0;
  at.ran.length = 0;
  const got = await call().then(answerOf, (error: unknown) => {
    if (!(error instanceof Error)) throw error;
    return `refused${error instanceof PartialFailure ? ` [kept ${shortIds(error.kept.id)}]` : ""}: ${shortIds(error.message)}`;
  });
  const warnings = at.program.log.filter((line) => line.startsWith("warning: ")).map((line) => line.slice(9));
  expect({ answer: got, sent: at.program.sent, ran: at.ran, says: warnings }).toEqual({ answer, sent, ran, says });
}

const attached = ["volume.attach 200"];
const detached = ["volume.detach 200"];
const takesOver = expect.stringMatching(
  /^volume #8 is attached to #5 already: nothing is attached, and it is managed here from now on/,
);
const goesFirst = expect.stringMatching(
  /^volume #8 is attached to #5 already: where that is this attachment, which is being replaced, it is taken off first and attached again/,
);
const noFlush = expect.stringMatching(
  /^refused: volume #8 has to be detached, and nothing confirms that it is flushed/,
);
/** Hangs on the VM by hand. */
const byHand = async ({ program, ids }: Stage, vmId = ids.vmId): Promise<void> => {
  await program.client.attachVolume(ids.volumeId, vmId);
  await program.clock.sleep(120_000);
};
const offByHand = async ({ program, ids }: Stage): Promise<void> => {
  await program.client.detachVolume(ids.volumeId, ids.vmId, true);
  await program.clock.sleep(120_000);
};
const second = ({ program }: Stage) => builtVm(program.emulated, { name: "other" });
const nowhere = "99999999-9999-4999-8999-999999999999";

const creates: Readonly<Record<string, Row>> = {
  "the volume hangs on nothing": {
    asks:
      async ({ attach }) =>
      () =>
        attach(),
    answer: "#5/#8",
    sent: attached,
  },
  "it hangs there already": {
    asks: async (at) => {
      await byHand(at);
      return () => at.attach();
    },
    answer: "#5/#8",
    says: [takesOver],
  },
  "it hangs on another VM": {
    asks: async (at) => {
      const other = second(at);
      await byHand(at, other.id);
      return () => at.attach();
    },
    answer: "refused: volume #8 is attached to #9 — remove that attachment first",
  },
  "there is no such volume": {
    asks:
      async ({ attach }) =>
      () =>
        attach({ volumeId: nowhere }),
    answer: expect.stringMatching(/^refused: .*volume 99999999/),
  },
  "there is no such VM": {
    asks:
      async ({ attach }) =>
      () =>
        attach({ vmId: nowhere }),
    answer: "refused: attach volume #8 to the VM: refused (HTTP 404): VM not found in this project",
    sent: ["volume.attach 404"],
  },
  "it is refused, and its message names the volume by its id": {
    asks: async ({ program, attach }) => {
      program.setFaults([{ kind: "status", code: 403, operation: "volume.attach" }]);
      return () => attach();
    },
    answer: expect.stringMatching(/^refused: .*volume #8.*refused \(HTTP 403\): said so/),
    sent: ["volume.attach 403"],
  },
  "a command follows": {
    asks:
      async ({ attach }) =>
      () =>
        attach({ afterAttach: command }),
    answer: "#5/#8",
    sent: attached,
    ran: ["mount /data"],
  },
  "a command follows that fails: the attachment is kept, with the reason": {
    asks: async ({ attach, ends }) => {
      ends.push(1);
      return () => attach({ afterAttach: command });
    },
    answer: expect.stringMatching(/^refused \[kept #5\/#8\]: .*ended with 1/),
    sent: attached,
    ran: ["mount /data"],
  },
  "it hangs there already, and a command follows: an earlier create was cut off before it": {
    asks: async (at) => {
      await byHand(at);
      return () => at.attach({ afterAttach: command });
    },
    answer: "#5/#8",
    ran: ["mount /data"],
    says: [takesOver],
  },
};

const previews: Readonly<Record<string, Row>> = {
  "the volume hangs on nothing": {
    asks:
      async ({ process, ids }) =>
      () =>
        process.preview("VolumeAttachment", "att", ids),
    answer: [],
  },
  "the VM is not there yet": {
    asks:
      async ({ process, ids }) =>
      () =>
        process.preview("VolumeAttachment", "att", { ...ids, vmId: unknownValue }),
    answer: [],
  },
  "the volume is not there yet": {
    asks:
      async ({ process, ids }) =>
      () =>
        process.preview("VolumeAttachment", "att", { ...ids, volumeId: unknownValue }),
    answer: [],
  },
  "it hangs there already": {
    asks: async (at) => {
      await byHand(at);
      return () => at.process.preview("VolumeAttachment", "att", at.ids);
    },
    answer: [takesOver],
  },
  "it hangs there already, and its former version is the state's": {
    asks: async (at) => {
      await at.attach(confirmed);
      return () => at.process.preview("VolumeAttachment", "att", { ...at.ids, ...confirmed }, "unasked");
    },
    answer: [goesFirst],
  },
  "it hangs there already, and the command line tells to replace it": {
    asks: async (at) => {
      await at.attach(confirmed);
      const { preview } = at.program.startProcess({ isInState: true });
      return () => preview("VolumeAttachment", "att", { ...at.ids, ...confirmed });
    },
    answer: [goesFirst],
  },
  "it hangs there already, and is replaced with its VM": {
    asks: async (at) => {
      await at.process.diff(await at.attach(confirmed), { ...at.ids, ...confirmed, vmId: unknownValue });
      return () => at.process.preview("VolumeAttachment", "att", { ...at.ids, ...confirmed }, "told");
    },
    answer: [goesFirst],
  },
  "it hangs by hand where this attachment, which is elsewhere, is to have it": {
    asks: async (at) => {
      const kept = await at.attach(confirmed);
      const vmId = second(at).id;
      await offByHand(at);
      await byHand(at, vmId);
      await at.process.diff(kept, { ...at.ids, ...confirmed, vmId });
      return () => at.process.preview("VolumeAttachment", "att", { ...at.ids, ...confirmed, vmId }, "told");
    },
    answer: [expect.stringMatching(/^volume #8 is attached to #9 already: nothing is attached/)],
  },
  "it hangs on another VM": {
    asks: async (at) => {
      const other = second(at);
      await byHand(at, other.id);
      return () => at.process.preview("VolumeAttachment", "att", at.ids);
    },
    answer: ["volume #8 is attached to #9, and has to be taken off it before"],
  },
  "it hangs where this attachment has it, which is replaced": {
    asks: async (at) => {
      const moved = { ...at.ids, ...confirmed, vmId: second(at).id };
      await at.process.diff(await at.attach(confirmed), moved);
      return () => at.process.preview("VolumeAttachment", "att", moved);
    },
    answer: [],
  },
  "it hangs where another attachment has it, which is replaced by one elsewhere": {
    asks: async (at) => {
      const { id: vmId } = second(at);
      await at.process.diff(await at.attach(confirmed), { ...at.ids, ...confirmed, volumeId: nowhere });
      return () => at.process.preview("VolumeAttachment", "other", { ...at.ids, vmId });
    },
    answer: ["volume #8 is attached to #5, and has to be taken off it before"],
  },
  "there is no such VM": {
    asks:
      async ({ process, ids }) =>
      () =>
        process.preview("VolumeAttachment", "att", { ...ids, vmId: nowhere }),
    answer: expect.stringMatching(/^refused: .*99999999/),
  },
};

const again = { ...command, again: "when_changed" };
const diffs: Readonly<Record<string, Row>> = {
  "nothing is other": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach();
      return () => process.diff(kept, ids);
    },
    answer: [],
  },
  "another VM, and no flush is confirmed": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach();
      return () => process.diff(kept, { ...ids, vmId: nowhere });
    },
    answer: noFlush,
  },
  "another VM that is not there yet": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach(confirmed);
      return () => process.diff(kept, { ...ids, ...confirmed, vmId: unknownValue });
    },
    answer: ["vmId anew", "the old one first"],
  },
  "another VM, and the flush is confirmed": {
    asks: async (at) => {
      const other = second(at);
      const kept = await at.attach(confirmed);
      return () => at.process.diff(kept, { ...at.ids, ...confirmed, vmId: other.id });
    },
    answer: ["vmId anew", "the old one first"],
  },
  "another VM, and the flush is by a stop": {
    asks: async (at) => {
      const other = second(at);
      const kept = await at.attach({ flush: { via: "stop" } });
      return () => at.process.diff(kept, { ...at.ids, flush: { via: "stop" }, vmId: other.id });
    },
    answer: ["vmId anew", "the old one first"],
  },
  "another flush": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach();
      return () => process.diff(kept, { ...ids, flush: { via: "stop" } });
    },
    answer: ["flush", "the old one first"],
  },
  "a flush that was not said of what was imported": {
    asks: async (at) => {
      await byHand(at);
      const id = `${at.ids.vmId}/${at.ids.volumeId}`;
      const found = await at.process.read({
        type: "VolumeAttachment",
        name: "att",
        id,
        outputs: undefined as unknown as Props,
      });
      return () =>
        at.process.diff({ type: "VolumeAttachment", name: "att", ...found! }, { ...at.ids, flush: { via: "stop" } });
    },
    answer: [],
  },
  "a command is owed": {
    asks: async ({ process, attach, ends, ids }) => {
      ends.push(1);
      const failed: unknown = await attach({ afterAttach: command }).catch((error: unknown) => error);
      if (!(failed instanceof PartialFailure)) throw failed;
      return () =>
        process.diff({ type: "VolumeAttachment", name: "att", ...failed.kept }, { ...ids, afterAttach: command });
    },
    answer: ["recorded"],
  },
  "the volume has grown in this process: its command is owed": {
    asks: async ({ process, attach, ids }) => {
      const adopted = { name: "data", size: 5, flush: { via: "stop" }, adopt: ids.volumeId };
      const volume = await process.create("Volume", "data", adopted);
      const kept = await attach({ afterAttach: command, flush: { via: "stop" } });
      await process.update(volume, { ...adopted, size: 9 });
      return () => process.diff(kept, { ...ids, afterAttach: command, flush: { via: "stop" } });
    },
    answer: ["recorded"],
  },
  "the volume is to grow, and somebody has moved it to another VM: the update is refused before the volume is": {
    asks: async (at) => {
      const adopted = { name: "data", size: 5, ...confirmed, adopt: at.ids.volumeId };
      const volume = await at.process.create("Volume", "data", adopted);
      const kept = await at.attach(confirmed);
      const other = second(at);
      await offByHand(at);
      await byHand(at, other.id);
      await at.process.diff(volume, { ...adopted, size: 9 });
      return () => at.process.diff(kept, { ...at.ids, ...confirmed });
    },
    answer: "refused: volume #8 is attached to #9 — remove that attachment first",
  },
};

const byStop = { flush: { via: "stop" } };

/** Its removal has stopped the VM and taken the volume off, and could not start the VM again. */
async function leftStopped({ program, process, attach }: Stage) {
  const kept = await attach(byStop);
  program.setFaults([{ kind: "status", code: 403, operation: "vm.start" }]);
  await expect(process.remove(kept)).rejects.toThrow(/start the VM again/);
  program.setFaults([]);
  await program.clock.sleep(120_000);
  return { kept, next: program.startProcess() };
}

const stopped: Readonly<Record<string, Row>> = {
  "the next removal starts it": {
    asks: async (at) => {
      const { kept, next } = await leftStopped(at);
      return () => next.remove(kept);
    },
    answer: undefined,
    sent: ["vm.start #5 200"],
  },
  "the program has it again: its difference says what the update does": {
    asks: async (at) => {
      const { kept, next } = await leftStopped(at);
      return () => next.diff(kept, { ...at.ids, ...byStop });
    },
    answer: [
      "recorded",
      "warns: volume #8 is off VM #5: a change of it was cut off, and it is attached again",
      "warns: VM #5 was stopped for a flush by a change that was cut off, and is started again",
    ],
  },
  "the program has it again: it is attached, and the VM starts": {
    asks: async (at) => {
      const { kept, next } = await leftStopped(at);
      return () => next.update(kept, { ...at.ids, ...byStop });
    },
    answer: "#5/#8",
    sent: ["volume.attach 200", "vm.start #5 200"],
  },
  "a refresh has taken it out, and it is made anew": {
    asks: async (at) => {
      const { next } = await leftStopped(at);
      return () => next.create("VolumeAttachment", "att", { ...at.ids, ...byStop });
    },
    answer: "#5/#8",
    sent: ["volume.attach 200", "vm.start #5 200"],
  },
  "somebody has started the VM and stopped it since: it stays so": {
    asks: async (at) => {
      const { kept, next } = await leftStopped(at);
      await at.program.client.startVm(at.ids.vmId);
      await at.program.clock.sleep(120_000);
      await byHand(at);
      expect((await next.diff(kept, { ...at.ids, ...byStop })).changes).toEqual([]);
      await at.program.client.stopVm(at.ids.vmId);
      await at.program.clock.sleep(120_000);
      return () => next.diff(kept, { ...at.ids, ...byStop });
    },
    answer: [],
  },
};

const updates: Readonly<Record<string, Row>> = {
  "another flush sends nothing": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach();
      return () => process.update(kept, { ...ids, flush: { via: "stop" } });
    },
    answer: "#5/#8",
  },
  "another command is run where it says so": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach({ afterAttach: again });
      return () => process.update(kept, { ...ids, afterAttach: { ...again, command: ["mount", "/other"] } });
    },
    answer: "#5/#8",
    ran: ["mount /other"],
  },
  "the same command is not run again": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach({ afterAttach: again });
      return () => process.update(kept, { ...ids, afterAttach: again, flush: { via: "stop" } });
    },
    answer: "#5/#8",
  },
  "another command is not run where it does not say so": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach({ afterAttach: command });
      return () => process.update(kept, { ...ids, afterAttach: { command: ["mount", "/other"] } });
    },
    answer: "#5/#8",
  },
  "a command that is new is not run": {
    asks: async ({ process, attach, ids }) => {
      const kept = await attach();
      return () => process.update(kept, { ...ids, afterAttach: again });
    },
    answer: "#5/#8",
  },
  "a command that is owed is run": {
    asks: async ({ process, attach, ends, ids }) => {
      ends.push(1);
      const failed: unknown = await attach({ afterAttach: command }).catch((error: unknown) => error);
      if (!(failed instanceof PartialFailure)) throw failed;
      return () =>
        process.update({ type: "VolumeAttachment", name: "att", ...failed.kept }, { ...ids, afterAttach: command });
    },
    answer: "#5/#8",
    ran: ["mount /data"],
  },
  "a command that is owed is not run where nobody declares it any more": {
    asks: async ({ process, attach, ends, ids }) => {
      ends.push(1);
      const failed: unknown = await attach({ afterAttach: command }).catch((error: unknown) => error);
      if (!(failed instanceof PartialFailure)) throw failed;
      return () => process.update({ type: "VolumeAttachment", name: "att", ...failed.kept }, ids);
    },
    answer: "#5/#8",
  },
  "a command is owed, and the volume hangs on another VM": {
    asks: async (at) => {
      at.ends.push(1);
      const failed: unknown = await at.attach({ afterAttach: command }).catch((error: unknown) => error);
      if (!(failed instanceof PartialFailure)) throw failed;
      const other = second(at);
      await offByHand(at);
      await byHand(at, other.id);
      return () =>
        at.process.update(
          { type: "VolumeAttachment", name: "att", ...failed.kept },
          { ...at.ids, afterAttach: command },
        );
    },
    answer: "refused: volume #8 is attached to #9 — remove that attachment first",
  },
  "a command is owed, and the volume is off: it is attached, and the command is run": {
    asks: async (at) => {
      at.ends.push(1);
      const failed: unknown = await at.attach({ afterAttach: command }).catch((error: unknown) => error);
      if (!(failed instanceof PartialFailure)) throw failed;
      await offByHand(at);
      return () =>
        at.process.update(
          { type: "VolumeAttachment", name: "att", ...failed.kept },
          { ...at.ids, afterAttach: command },
        );
    },
    answer: "#5/#8",
    sent: attached,
    ran: ["mount /data"],
  },
  "the volume has grown in this process: its command is run": {
    asks: async ({ process, attach, ids }) => {
      const adopted = { name: "data", size: 5, flush: { via: "stop" }, adopt: ids.volumeId };
      const volume = await process.create("Volume", "data", adopted);
      const kept = await attach({ afterAttach: command, flush: { via: "stop" } });
      await process.update(volume, { ...adopted, size: 9 });
      return () => process.update(kept, { ...ids, afterAttach: command, flush: { via: "stop" } });
    },
    answer: "#5/#8",
    ran: ["mount /data"],
  },
};

const reads: Readonly<Record<string, Row>> = {
  "it is there": {
    asks: async ({ process, attach }) => {
      const kept = await attach();
      return () => process.read(kept);
    },
    answer: "#5/#8",
  },
  "the volume is off": {
    asks: async (at) => {
      const kept = await at.attach();
      await offByHand(at);
      return () => at.process.read(kept);
    },
    answer: undefined,
  },
  "the volume is gone": {
    asks: async (at) => {
      const kept = await at.attach();
      await offByHand(at);
      await at.program.client.deleteVolume(at.ids.volumeId);
      await at.program.clock.sleep(120_000);
      return () => at.process.read(kept);
    },
    answer: undefined,
  },
  "the volume hangs on another VM": {
    asks: async (at) => {
      const kept = await at.attach();
      const other = second(at);
      await offByHand(at);
      await byHand(at, other.id);
      return () => at.process.read(kept);
    },
    answer: undefined,
  },
  "neither the volume nor the VM can be looked at: it is kept as it was": {
    asks: async (at) => {
      const kept = await at.attach();
      const operations = ["volume.get", "volume.list", "vm.get", "vm.list"];
      at.program.setFaults(operations.map((operation) => ({ kind: "status", code: 403, operation })));
      return () => at.process.read(kept);
    },
    answer: "#5/#8",
    says: ["attachment #5/#8 was not seen, and is kept as it was: said so"],
  },
  "it is imported": {
    asks: async (at) => {
      await byHand(at);
      return () =>
        at.process.read({
          type: "VolumeAttachment",
          name: "att",
          id: `${at.ids.vmId}/${at.ids.volumeId}`,
          outputs: undefined as unknown as Props,
        });
    },
    answer: "#5/#8",
  },
  "it is imported, and is not there": {
    asks: async (at) => () =>
      at.process.read({
        type: "VolumeAttachment",
        name: "att",
        id: `${at.ids.vmId}/${at.ids.volumeId}`,
        outputs: undefined as unknown as Props,
      }),
    answer: undefined,
  },
};

const removals: Readonly<Record<string, Row>> = {
  "no flush is confirmed": {
    asks: async ({ process, attach }) => {
      const kept = await attach();
      return () => process.remove(kept);
    },
    answer: expect.stringMatching(/^refused: .*flushConfirmed: true/),
  },
  "the flush is confirmed": {
    asks: async ({ process, attach }) => {
      const kept = await attach(confirmed);
      return () => process.remove(kept);
    },
    answer: undefined,
    sent: detached,
  },
  "the flush is by a stop": {
    asks: async ({ process, attach }) => {
      const kept = await attach({ flush: { via: "stop" } });
      return () => process.remove(kept);
    },
    answer: undefined,
    sent: ["vm.stop #5 200", "volume.detach 200", "vm.start #5 200"],
  },
  "the volume is off already": {
    asks: async (at) => {
      const kept = await at.attach();
      await offByHand(at);
      return () => at.process.remove(kept);
    },
    answer: undefined,
  },
  "the volume is gone, and so may be the right to see it": {
    asks: async (at) => {
      const kept = await at.attach();
      await offByHand(at);
      await at.program.client.deleteVolume(at.ids.volumeId);
      await at.program.clock.sleep(120_000);
      return () => at.process.remove(kept);
    },
    answer: expect.stringMatching(/^refused: attachment #5\/#8 is kept, and nothing was sent: of its volume, /),
  },
  "the VM is gone": {
    asks: async (at) => {
      const kept = await at.attach();
      await at.program.client.deleteVm(at.ids.vmId, false);
      await at.program.clock.sleep(60_000);
      return () => at.process.remove(kept);
    },
    answer: undefined,
  },
  "the detach is refused, and its message names the volume by its id": {
    asks: async ({ program, process, attach }) => {
      const kept = await attach(confirmed);
      program.setFaults([{ kind: "status", code: 403, operation: "volume.detach" }]);
      return () => process.remove(kept);
    },
    answer: expect.stringMatching(/^refused: .*volume #8.*refused \(HTTP 403\): said so/),
    sent: ["volume.detach 403"],
  },
};

describe.each([
  ["the create of an attachment, where", creates],
  ["the preview of an attachment, where", previews],
  ["the difference of an attachment, where", diffs],
  ["the update of an attachment, where", updates],
  ["the look at an attachment, where", reads],
  ["the removal of an attachment, where", removals],
  ["a VM that stayed stopped when its volume came off:", stopped],
] as const)("%s", (_, rows) => {
  it.each(Object.entries(rows))("%s", (__, row) => check(row));
});
