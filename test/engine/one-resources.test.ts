/** What the handler of one resource answers, sends and says (one/resource.ts and what it is made of), in virtual time. */
import { describe, expect, it } from "vitest";
import { accepted } from "../../reconciler/core/model/outcome";
import { type Found, PartialFailure, type Props, unknownValue } from "../../reconciler/one/handler";
import type { KeptOne, ProgramProcess } from "../support/program-process";
import { checkTold as check, type ToldRow as Row } from "../support/told-by-a-program";
import { shortIds, startVirtualProgram, type VirtualProgram } from "../support/virtual-program";

const vm = {
  ...{ name: "web", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};
const data = { name: "data", size: 5 };
const full = { with: ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"] };
const keepsNamed = {};
const fromGroup = (remoteGroup: string) => ({ protocol: "tcp", dstPort: "22", remoteGroup });
const rule = (dstPort: string, remoteIp = "10.0.0.0/8") => ({ protocol: "tcp", dstPort, remoteIp });

/** A create that was sent and whose answer was lost, as the program's state keeps it. */
async function openCreate(
  program: VirtualProgram,
  inputs: Props = data,
  kind: "drop-after" | "drop-before" = "drop-after",
): Promise<KeptOne> {
  program.setFaults([
    { kind, operation: "volume.create" },
    { kind: "status", code: 500, operation: "volume.list", skip: 1 },
  ]);
  const failed: unknown = await program
    .startProcess()
    .create("Volume", "data", inputs)
    .catch((error: unknown) => error);
  program.setFaults([]);
  if (!(failed instanceof PartialFailure)) throw failed;
  return { type: "Volume", name: "data", ...failed.kept };
}

const isOpen = expect.stringMatching(/^warns: the outcome of creating data is not known \(sent at 2026-01-01T/);

const open: Readonly<Record<string, Row>> = {
  "the next comparison asks for an update, which tells the user, where nothing can find it": {
    asks: async (program, { diff }) => {
      const kept = await openCreate(program);
      return () => diff(kept, data);
    },
    answer: ["recorded", isOpen],
  },
  "the user says that it made nothing: a new one in its place": {
    asks: async (program, { diff }) => {
      const kept = await openCreate(program);
      return () => diff(kept, { ...data, adopt: "none" });
    },
    answer: ["adopt", "recorded anew", isOpen],
  },
  "the user said so before it was sent: that says nothing of it": {
    asks: async (program, { diff }) => {
      const kept = await openCreate(program, { ...data, adopt: "none" });
      return () => diff(kept, { ...data, adopt: "none" });
    },
    answer: ["recorded", isOpen, expect.stringMatching(/^warns: adopt: "none" stood in the program already/)],
  },
  "the user has taken that out again: an update that tells the user": {
    asks: async (program, { diff }) => {
      const kept = await openCreate(program, { ...data, adopt: "none" });
      return () => diff(kept, data);
    },
    answer: ["adopt", "recorded", isOpen],
  },
  "the user says its id: a take-over in its place, without a warning": {
    asks: async (program, { diff }) => {
      const kept = await openCreate(program);
      return () => diff(kept, { ...data, adopt: program.volumes()[0]!.id });
    },
    answer: ["adopt", "recorded anew"],
  },
  "a list finds it: what takes its place will take it over": {
    given: full,
    asks: async (program, { diff }) => {
      const kept = await openCreate(program);
      return () => diff(kept, data);
    },
    answer: [
      "recorded anew",
      "warns: volume data (#5) was made by a create whose outcome was not known: it is taken over, and nothing is deleted for that",
    ],
  },
  "no list shows it: a new one in its place": {
    given: full,
    asks: async (program, { diff }) => {
      const kept = await openCreate(program, data, "drop-before");
      return () => diff(kept, data);
    },
    answer: ["recorded anew", isOpen],
  },
  "what takes its place takes over what it made, though the old one goes first": {
    given: full,
    asks: async (program, { diff, preview, create, remove }) => {
      const kept = await openCreate(program);
      return async () => {
        await diff(kept, data);
        await remove(kept);
        await preview("Volume", "data", data, "told");
        return create("Volume", "data", data);
      };
    },
    answer: "#5",
  },
  "what takes its place takes over what it made, and the old one goes last": {
    given: full,
    asks: async (program, { diff, create, remove }) => {
      const kept = await openCreate(program);
      return async () => {
        await diff(kept, data);
        const made = await create("Volume", "data", data);
        await remove(kept);
        return made;
      };
    },
    answer: "#5",
  },
  "what takes its place makes up for what has changed since, and loses nothing for it": {
    given: full,
    asks: async (program, { diff, create }) => {
      const kept = await openCreate(program);
      return async () => {
        await diff(kept, { ...data, size: 8 });
        return create("Volume", "data", { ...data, size: 8 });
      };
    },
    answer: "#5",
    sent: ["volume.resize #5 200"],
  },
  "what takes its place would lose what it made: it is refused": {
    given: full,
    asks: async (program, { diff }) => {
      const kept = await openCreate(program);
      return () => diff(kept, { ...data, name: "other" });
    },
    answer: expect.stringMatching(/^refused: data: taking it over would go further than a preview can show/),
  },
  "an update is refused": {
    asks: async (program, { update }) => {
      const kept = await openCreate(program);
      return () => update(kept, data);
    },
    answer: expect.stringMatching(
      /^refused: the outcome of creating data is not known \(sent at .*set adopt: "<its id>"/,
    ),
  },
  "a refresh that cannot find it keeps it open": {
    asks: async (program, { read }) => {
      const kept = await openCreate(program);
      return async () => ((await read(kept))?.id === kept.id ? "still open" : "another");
    },
    answer: "still open",
    says: [expect.stringMatching(/^the outcome of creating data is not known/)],
  },
  "a refresh that finds it has its id from then on, and no open create": {
    given: full,
    asks: async (program, { read }) => {
      const kept = await openCreate(program);
      return async () => {
        const found = await read(kept);
        const { record, intent, owner } = found!.outputs["recorded"] as {
          record: { name: string };
          intent?: unknown;
          owner: string;
        };
        return [
          shortIds(found!.id),
          found!.inputs,
          record.name,
          intent,
          owner === (kept.outputs["recorded"] as Props)["owner"],
        ];
      };
    },
    answer: ["#5", data, "data", undefined, true],
  },
  "a refresh that finds nothing by that name keeps it open": {
    given: full,
    asks: async (program, { read }) => {
      const kept = await openCreate(program, data, "drop-before");
      return async () => ((await read(kept))?.id === kept.id ? "still open" : "another");
    },
    answer: "still open",
    says: [expect.stringMatching(/^the outcome of creating data is not known/)],
  },
  "its delete sends nothing where nothing can find it, and says what may be left": {
    asks: async (program, { remove }) => {
      const kept = await openCreate(program);
      return () => remove(kept);
    },
    answer: undefined,
    says: [
      expect.stringMatching(
        /^the outcome of creating volume data \(sent at .*\) is not known, and it is given up: look in the service for a volume of that name with 5 GB/,
      ),
    ],
  },
  "its delete deletes what it made, where a list shows it": {
    given: full,
    asks: async (program, { remove }) => {
      const kept = await openCreate(program);
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["volume.delete #5 200"],
  },
  "a delete asks for a look where its id may be another one's by now": {
    asks: async (program, { create, remove }) => {
      const kept = await create("Volume", "data", data);
      await program.client.createVolume("theirs", 5);
      const id = program.volumes().find(({ name }) => name === "theirs")!.id;
      return () => remove(JSON.parse(JSON.stringify(kept).replaceAll(kept.id, id)) as KeptOne);
    },
    answer: expect.stringMatching(
      /^refused: volume theirs \(#\d+\) of 5 GB is deleted with its data; its name is theirs, not data: it may be another volume that has the id by now — run a refresh, and look at the preview$/,
    ),
  },
  "its delete leaves what another resource has taken over by its id": {
    given: full,
    asks: async (program, { create, remove }) => {
      const kept = await openCreate(program);
      await create("Volume", "data2", { ...data, adopt: program.volumes()[0]!.id });
      return () => remove(kept);
    },
    answer: undefined,
  },
  "its delete asks for the right credential, where nothing is shown to this one": {
    given: full,
    asks: async (program) => {
      const other = await program.startProcess().create("Volume", "other", { ...data, name: "other" });
      const kept = await openCreate(program);
      const process = program.startProcess({ token: "outsider-token" });
      await process.read(other);
      return () => process.remove(kept);
    },
    answer: expect.stringMatching(
      /^refused: the open create of volume data is kept, and nothing was sent: the service shows nothing that this state remembers/,
    ),
  },
  "a run that was stopped while it looked has looked once more": {
    given: full,
    asks: async (program) => {
      const stop = new AbortController();
      program.setFaults([{ kind: "drop-after", operation: "volume.create" }]);
      const { create } = program.startProcess({
        context: { signal: stop.signal },
        client: {
          createVolume: async (volume, options) => {
            const answer = await program.client.createVolume(volume, options);
            stop.abort();
            return answer;
          },
        },
      });
      return () => create("Volume", "data", data);
    },
    answer: expect.stringMatching(
      /^refused \[kept #5\]: create volume data of 5 GB: stopped while looking for the volume/,
    ),
    sent: ["volume.create lost after"],
  },
};

describe("a create whose outcome is open, when", () => {
  it.each(Object.entries(open))("%s", (_, row) => check(row));
});

const former: Readonly<Record<string, Row>> = {
  "nobody has shown to manage the one of its name: it may be its own former version": {
    asks: async (program) => {
      await program.startProcess().create("Vm", "other", vm);
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", vm);
    },
    answer: [
      'a VM named web exists already (#5) — if this resource is being replaced, that one goes first, and the root disk of the VM web that is there is deleted with it (by the option deleteBeforeReplace, which the classes of reconcile-cloud/pulumi give by themselves) — if it is somebody else\'s, the update will be refused: adopt: "<its id>" takes it over; or choose another name',
    ],
  },
  "in upper case as well": {
    asks: async (program) => {
      await program.startProcess().create("Vm", "other", vm);
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", { ...vm, name: "WEB" });
    },
    answer: [expect.stringMatching(/if this resource is being replaced, that one goes first/)],
  },
  "another resource of the program has shown to manage it": {
    asks: async (program) => {
      const made = await program.startProcess().create("Vm", "other", vm);
      const { diff, preview } = program.startProcess();
      await diff(made, vm);
      return () => preview("Vm", "web", vm);
    },
    answer: expect.stringMatching(/^refused: a VM named web exists already \(#5\)/),
  },
  "another resource of the program shows it a moment later": {
    asks: async (program) => {
      const made = await program.startProcess().create("Vm", "other", vm);
      const { diff, preview } = program.startProcess();
      return async () => {
        const asked = preview("Vm", "web", vm);
        await Promise.all([asked.catch(() => undefined), program.clock.sleep(600).then(() => diff(made, vm))]);
        return asked;
      };
    },
    answer: expect.stringMatching(/^refused: a VM named web exists already \(#5\)/),
  },
  "another resource of the program shows it much later": {
    asks: async (program) => {
      const made = await program.startProcess().create("Vm", "other", vm);
      const { diff, preview } = program.startProcess();
      return async () => {
        const asked = preview("Vm", "web", vm);
        await Promise.all([asked, program.clock.sleep(5000).then(() => diff(made, vm))]);
        return (await asked).length;
      };
    },
    answer: 1,
  },
  "two have its name": {
    asks: async (program) => {
      const { create } = program.startProcess();
      await create("Vm", "one", vm);
      const two = await create("Vm", "two", { ...vm, name: "web-2" });
      const table = program.emulated.world.tables.vm;
      table.set(two.id, { ...table.get(two.id)!, name: "web" });
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", vm);
    },
    answer: expect.stringMatching(/^refused: 2 VMs are named web: #5, #8/),
  },
  "a resource that is not deleted first has its name": {
    given: full,
    asks: async (program) => {
      await program.startProcess().create("Volume", "other", data);
      const { preview } = program.startProcess();
      return () => preview("Volume", "data", data);
    },
    answer: expect.stringMatching(/^refused: a volume named data exists already/),
  },
  "one that is not deleted first has its name, and the command line tells to replace this one": {
    given: full,
    asks: async (program) => {
      await program.startProcess().create("Volume", "other", data);
      const { preview } = program.startProcess({ isInState: true });
      return () => preview("Volume", "data", data);
    },
    answer: [
      expect.stringMatching(
        /if this resource is being replaced, that one goes first, and volume data is replaced by an empty one, .* \(by the option deleteBeforeReplace\) — if it is somebody else's/,
      ),
    ],
  },
  "nobody can see its name, and the command line tells to replace it: what is lost with it": {
    asks: async (program) => {
      await program.startProcess().create("Volume", "data", data);
      await program.clock.sleep(120_000);
      const { preview } = program.startProcess({ isInState: true });
      return () => preview("Volume", "data", { ...data, adopt: "none" });
    },
    answer: ["volume data is replaced by an empty one, and the one that is there is deleted with everything on it"],
  },
  "the engine says that a former version is there: what is lost with it": {
    asks: async (program) => {
      await program.startProcess().create("Vm", "other", vm);
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", vm, "there");
    },
    answer: ["the root disk of the VM web that is there is deleted with it"],
  },
  "its data volume goes along: that is lost as well": {
    asks: async (program) => {
      await program.startProcess().create("Vm", "other", vm);
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", { ...vm, preservedVolumes: "delete" }, "there");
    },
    answer: [
      "the root disk of the VM web that is there is deleted with it, and so is the data volume that was made with it, with everything on it",
    ],
  },
  "the engine has told it": {
    asks: async (program) => {
      await program.startProcess().create("Vm", "other", vm);
      const { preview } = program.startProcess();
      return () => preview("Vm", "web", vm, "told");
    },
    answer: [],
  },
  "a former version of a group is there, with which nothing is lost": {
    given: full,
    asks: async (program) => {
      await program.startProcess().create("SecurityGroup", "other", { name: "front" });
      const { preview } = program.startProcess();
      return () => preview("SecurityGroup", "front", { name: "front" }, "there");
    },
    answer: [],
  },
  "a former version of what is not deleted first is there": {
    given: full,
    asks: async (program) => {
      await program.startProcess().create("Volume", "other", data);
      const { preview } = program.startProcess();
      return () => preview("Volume", "data", data, "there");
    },
    answer: ["volume data is replaced by an empty one, and the one that is there is deleted with everything on it"],
  },
  "it names an image that there is not": {
    asks:
      async (_, { preview }) =>
      () =>
        preview("Vm", "web", { ...vm, imageId: "no-such-image" }),
    answer: expect.stringMatching(/^refused: .*no-such-image/),
  },
  "something in it is not known yet: nothing is asked": {
    asks:
      async (_, { preview }) =>
      () =>
        preview("Vm", "web", { ...vm, imageId: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" }),
    answer: [],
  },
  "it names an id that nothing shows": {
    given: full,
    asks:
      async (_, { preview }) =>
      () =>
        preview("SecurityGroup", "front", {
          name: "front",
          rules: [{ protocol: "tcp", dstPort: "22", remoteGroup: "nowhere" }],
        }),
    answer:
      "refused: the service shows no security group nowhere — check the id, and the credential's project and rights",
  },
};

describe("the preview of a create, when", () => {
  it.each(Object.entries(former))("%s", (_, row) => check(row));
});

const readBy =
  (process: ProgramProcess, type: KeptOne["type"], id: string, shows: (found: Found) => unknown) => async () => {
    const found = await process.read({ type, name: "it", id, outputs: undefined as unknown as Props });
    return found === undefined ? "gone" : shows(found);
  };

const reads: Readonly<Record<string, Row>> = {
  "by its id alone: its inputs, as imported, with an owner": {
    asks: async (program, process) => {
      const { id } = await program.startProcess().create("Volume", "data", data);
      return readBy(process, "Volume", id, ({ inputs, outputs }) => {
        const { record, owner, imported, scope } = outputs["recorded"] as Record<string, unknown>;
        return [inputs, (record as Props)["sizeGb"], typeof owner, imported, scope];
      });
    },
    answer: [data, 5, "string", true, { origin: "embedded" }],
  },
  "by an id that the service does not know": {
    asks: async (_, process) => readBy(process, "Volume", "99999999-9999-4999-8999-999999999999", () => "there"),
    answer: "gone",
  },
  "by its id, where the look fails": {
    asks: async (program, process) => {
      const { id } = await program.startProcess().create("Volume", "data", data);
      program.setFaults([{ kind: "status", code: 403, operation: "volume.get" }]);
      return readBy(process, "Volume", id, () => "there");
    },
    answer: expect.stringMatching(/^refused: .*volume #5 may not be looked at with this credential/),
  },
  "again, and nothing has changed": {
    asks: async (program, { read }) => {
      const kept = await program.startProcess().create("Volume", "data", data);
      return async () => (await read(kept))?.inputs;
    },
    answer: data,
  },
  "again, and it was grown elsewhere": {
    asks: async (program, { read }) => {
      const kept = await program.startProcess().create("Volume", "data", data);
      await program.client.resizeVolume(kept.id, 9);
      return async () => {
        const found = await read(kept);
        return [found!.inputs, (found!.outputs["recorded"] as { record: { sizeGb: number } }).record.sizeGb];
      };
    },
    answer: [{ ...data, size: 9 }, 9],
  },
  "again, and the look fails: it is kept as it was": {
    asks: async (program, { read }) => {
      const kept = await program.startProcess().create("Volume", "data", data);
      program.setFaults([{ kind: "status", code: 403, operation: "volume.get" }]);
      return () => read(kept);
    },
    answer: "#5",
    says: ["volume #5 was not seen, and is kept as it was: said so"],
  },
  "again, and it is gone, as another resource of the program vouches": {
    asks: async (program, { read, diff }) => {
      const kept = await program.startProcess().create("Volume", "data", data);
      const other = await program.startProcess().create("Volume", "other", { name: "other", size: 1 });
      await program.client.deleteVolume(kept.id);
      await diff(other, { name: "other", size: 1 });
      return () => read(kept);
    },
    answer: undefined,
    says: [
      expect.stringMatching(
        /^volume data \(#5\) is gone: .*; the next update makes a new one, which is empty: the 5 GB are lost$/,
      ),
    ],
  },
  "again, and it is not shown while nothing vouches for the credential": {
    asks: async (program, { read }) => {
      const kept = await program.startProcess().create("Volume", "data", data);
      await program.client.deleteVolume(kept.id);
      return () => read(kept);
    },
    answer: "#5",
    says: [
      expect.stringMatching(
        /^volume #5 was not seen, and is kept as it was: .*; where it is really gone: pulumi state delete/,
      ),
    ],
  },
  "again, and it is not shown, while what else the program has is shown a moment later": {
    given: full,
    asks: async (program, { read }) => {
      const maker = program.startProcess();
      const kept = await maker.create("SecurityGroup", "web", { name: "web" });
      const other = await maker.create("Volume", "data", data);
      await program.client.deleteGroup(kept.id);
      const later = () => program.clock.sleep(300).then(() => read(other));
      return async () => (await Promise.all([read(kept), later()]))[0];
    },
    answer: "#5",
    says: [expect.stringMatching(/^group #5 was not seen, .* the service shows no security group that this state/)],
  },
};

describe("a resource that is read", () => {
  it.each(Object.entries(reads))("%s", (_, row) => check(row));
});

const outputsWith = (kept: KeptOne, recorded: Props): KeptOne => ({
  ...kept,
  outputs: { ...kept.outputs, recorded: { ...(kept.outputs["recorded"] as Props), ...recorded } },
});

const diffs: Readonly<Record<string, Row>> = {
  "nothing differs": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      return () => diff(kept, data);
    },
    answer: [],
  },
  "a volume gets another name, with which everything on it is lost": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      return () => diff(kept, { ...data, name: "other" });
    },
    answer: ["name anew", "warns: volume data (#5) of 5 GB is replaced by an empty one; its data is deleted"],
  },
  "a detach of it was lost before it was done: the service shows that it hangs there still": {
    asks: async (_, { create, diff }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id });
      const { record } = kept.outputs["recorded"] as { record: Props };
      return () => diff(outputsWith(kept, { record: { ...record, detaching: host.id } }), data);
    },
    answer: [],
  },
  "a detach of its data volume was lost before it was done: the VM shows that it has it still": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Vm", "web", vm);
      const { record } = kept.outputs["recorded"] as { record: Props };
      return () => diff(outputsWith(kept, { record: { ...record, dataVolumeMoving: "detaching" } }), vm);
    },
    answer: [],
  },
  "nothing is remembered of it: it is not made anew, for that does not say that it is gone": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      return () => diff(outputsWith(kept, { record: undefined }), data);
    },
    answer:
      "refused: Pulumi's state has no record of volume data (#5) — run pulumi refresh, which looks it up by its id",
  },
  "it is of another service": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      return () => diff(outputsWith(kept, { scope: { origin: "https://elsewhere.example" } }), data);
    },
    answer: expect.stringMatching(/^refused: data is of the service https:\/\/elsewhere.example, and this is embedded/),
  },
  "it is of another service, and the user says that this one is it: that is kept": {
    asks: async (program, { create }) => {
      const kept = await create("Volume", "data", data);
      const { diff } = program.startProcess({ service: { acceptService: true } });
      return () => diff(outputsWith(kept, { scope: { origin: "https://elsewhere.example" } }), data);
    },
    answer: ["recorded"],
  },
  "a VM owes a command, as its record says": {
    asks: async (_, { create, diff }) => {
      const wanted = { ...vm, afterReady: { command: ["true"] } };
      const kept = await create("Vm", "web", wanted);
      const { record } = kept.outputs["recorded"] as { record: Props };
      const owes = [{ command: "after_ready", reason: "created", since: "2026-01-01T00:00:00Z" }];
      return () => diff(outputsWith(kept, { record: { ...record, owes } }), wanted);
    },
    answer: ["recorded", "the old one first"],
  },
  "a VM that is building, as its record says, and is done by now": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Vm", "web", vm);
      const { record } = kept.outputs["recorded"] as { record: Props };
      return () => diff(outputsWith(kept, { record: { ...record, building: true } }), vm);
    },
    answer: [],
  },
  "adopt names another one by now, which is not taken over": {
    asks: async (program, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      await program.client.createVolume("other", 5);
      return () => diff(kept, { ...data, adopt: program.volumes()[1]!.id });
    },
    answer: expect.stringMatching(
      /^refused: volume data \(#5\) is what this resource has already, and adopt: "#6" names another one, which is not taken over — .*pulumi state delete/,
    ),
  },
  "adopt names another one, as it did before": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      const outputs = { ...kept.outputs, adopt: "v-9" };
      return () => diff({ ...kept, outputs }, { ...data, adopt: "v-9" });
    },
    answer: [
      expect.stringMatching(
        /^warns: volume data \(#5\) is what this resource has already, and adopt: "v-9" names another one/,
      ),
    ],
  },
  "adopt names what is to be in the place of one that is replaced": {
    asks: async (program, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      await program.client.createVolume("other", 5);
      return () => diff(kept, { ...data, name: "other", adopt: program.volumes()[1]!.id });
    },
    answer: expect.arrayContaining(["name anew"]),
  },
  "a VM would be replaced that adopt names": {
    asks: async (_, { create, diff }) => {
      const { id } = await create("Vm", "web", vm);
      const kept = await create("Vm", "web2", { ...vm, adopt: id });
      return () => diff(kept, { ...vm, adopt: id, rootSize: 80 });
    },
    answer: expect.stringMatching(
      /^refused: web would have to be replaced, and adopt: "#5" names the very one that would be deleted for it/,
    ),
  },
  "it gets smaller": {
    asks: async (_, { create, diff }) => {
      const kept = await create("Volume", "data", data);
      return () => diff(kept, { ...data, size: 4 });
    },
    answer: expect.stringMatching(/^refused: .*cannot shrink/),
  },
  "a grow of an attached volume without a flush, which the update would refuse": {
    given: full,
    asks: async (_, { create, diff }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id });
      return () => diff(kept, { ...data, size: 9 });
    },
    answer: expect.stringMatching(/^refused: .*flushConfirmed: true/),
  },
  "a grow of a volume that the program attached, whose flush is confirmed": {
    given: full,
    asks: async (program, { create }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id });
      const { diff } = program.startProcess();
      return () => diff(kept, { ...data, size: 9, flushConfirmed: true });
    },
    answer: ["flushConfirmed", "size"],
  },
  "a grow of a volume that somebody attached by hand, whose flush is confirmed": {
    given: full,
    asks: async (program, { create, diff }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", data);
      await program.client.attachVolume(kept.id, host.id);
      return () => diff(kept, { ...data, size: 9, flushConfirmed: true });
    },
    answer: [
      "flushConfirmed",
      "size",
      "warns: volume #8 comes off VM #5: flushConfirmed says that it is flushed in that VM's guest",
    ],
  },
  "a volume gets another name that somebody attached by hand": {
    given: full,
    asks: async (program, { create, diff }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", { ...data, flushConfirmed: true });
      await program.client.attachVolume(kept.id, host.id);
      return () => diff(kept, { ...data, name: "other", flushConfirmed: true });
    },
    answer: [
      "name anew",
      "warns: volume data (#8) of 5 GB is replaced by an empty one; its data is deleted",
      "warns: volume #8 comes off VM #5: flushConfirmed says that it is flushed in that VM's guest",
    ],
  },
  "a group gets a rule, of another group that nothing shows": {
    given: full,
    asks: async (_, { create, diff }) => {
      const kept = await create("SecurityGroup", "front", { name: "front" });
      return () => diff(kept, { name: "front", rules: [{ protocol: "tcp", dstPort: "22", remoteGroup: "nowhere" }] });
    },
    answer:
      "refused: the service shows no security group nowhere — check the id, and the credential's project and rights",
  },
  ...Object.fromEntries(
    (
      [
        ["a rule's group is being replaced, and no rule goes by itself", {}, [fromGroup(unknownValue)], ["rules anew"]],
        ["a rule's group is being replaced, and a rule goes by itself", full, [fromGroup(unknownValue)], ["rules"]],
        ["a rule of a new group is added", {}, [rule("22"), fromGroup(unknownValue)], ["rules"]],
        ["a rule's text is not known", {}, [{ ...rule("22"), description: unknownValue }], ["rules"]],
        ["nothing is known of its rules", {}, unknownValue, ["rules"]],
        [
          "nothing is known of its rules, and they hold a group that is replaced",
          keepsNamed,
          unknownValue,
          ["rules anew"],
        ],
      ] satisfies readonly (readonly [string, Row["given"], unknown, readonly string[]])[]
    ).map(([what, given, rules, answer]): [string, Row] => [
      `of a group, ${what}`,
      {
        given,
        asks: async (program, { create }) => {
          const group = await create("SecurityGroup", "web", { name: "web", rules: [rule("22")] });
          const can = { ...program.client.can, keepsNamedGroups: given === keepsNamed };
          return () => program.startProcess({ client: { can } }).diff(group, { name: "web", rules });
        },
        answer: [...answer, "the old one first"],
      },
    ]),
  ),
  "a VM whose delete was cut off is there as it was": {
    asks: async (program, { create, diff }) => {
      const kept = await create("Vm", "web", vm);
      const { notes } = program.startProcess().contextOf("Vm", "web");
      await notes!.writeLeaving({ id: kept.id, disks: [] });
      return () => diff(kept, vm);
    },
    answer: [],
  },
  "a VM whose delete was cut off and that is gone is made anew": {
    asks: async (program, { create, diff }) => {
      const kept = await create("Vm", "web", vm);
      await program.client.deleteVm(kept.id, undefined);
      await program.clock.sleep(60_000);
      const { notes } = program.startProcess().contextOf("Vm", "web");
      await notes!.writeLeaving({ id: kept.id, disks: [] });
      return () => diff(kept, vm);
    },
    answer: expect.arrayContaining(["warns: VM web: VM #5 is gone from the service; this plan makes it anew"]),
  },
  "a behaviour of what was just imported": {
    asks: async (_, { create, diff, read }) => {
      const { id } = await create("Volume", "data", data);
      const found = await read({ type: "Volume", name: "it", id, outputs: undefined as unknown as Props });
      return () => diff({ type: "Volume", name: "it", ...found! }, { ...data, flush: { via: "stop" } });
    },
    answer: [],
  },
  "a behaviour of what was imported and said before": {
    asks: async (_, { create, diff, read }) => {
      const { id } = await create("Volume", "data", data);
      const found = await read({ type: "Volume", name: "it", id, outputs: undefined as unknown as Props });
      const outputs = { ...found!.outputs, flush: { via: "stop" } };
      return () => diff({ type: "Volume", name: "it", id, outputs }, { ...data, flush: { via: "ask" } });
    },
    answer: ["flush"],
  },
};

describe("the difference of a resource, where", () => {
  it.each(Object.entries(diffs))("%s", (_, row) => check(row));
});

const rulesOf = (program: VirtualProgram): unknown[] =>
  program
    .dump()
    .rules.filter(({ direction, port_range_min }) => direction === "ingress" && port_range_min !== null)
    .map(({ port_range_min }) => port_range_min)
    .sort();

/** The program leaves a description out, and the service refused to empty it. */
async function notEmptied(program: VirtualProgram, { create, update }: ProgramProcess): Promise<KeptOne> {
  const group = await create("SecurityGroup", "web-group", { name: "web-group", description: "of the web" });
  program.setFaults([{ kind: "status", code: 403, operation: "group.update" }]);
  const failed: unknown = await update(group, { name: "web-group" }).catch((error: unknown) => error);
  program.setFaults([]);
  if (!(failed instanceof PartialFailure)) throw failed;
  return { ...group, ...failed.kept };
}

const updates: Readonly<Record<string, Row>> = {
  "a description that the last one could not empty: the difference names it": {
    given: full,
    asks: async (program, process) => {
      const kept = await notEmptied(program, process);
      return () => process.diff(kept, { name: "web-group" });
    },
    answer: ["description", "the old one first"],
  },
  "a description that the last one could not empty is emptied": {
    given: full,
    asks: async (program, process) => {
      const kept = await notEmptied(program, process);
      return () => process.update(kept, { name: "web-group" });
    },
    answer: "#5",
    sent: ["group.update #5 200"],
  },
  "a volume grows": {
    asks: async (_, { create, update }) => {
      const kept = await create("Volume", "data", data);
      return () => update(kept, { ...data, size: 9 });
    },
    answer: "#5",
    sent: ["volume.resize #5 200"],
  },
  "a volume grows that hangs on a VM, without a flush": {
    given: full,
    asks: async (_, { create, update }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id });
      return () => update(kept, { ...data, size: 9 });
    },
    answer: expect.stringMatching(/^refused: .*flushConfirmed: true/),
  },
  "a volume grows that hangs on a VM, which stops meanwhile": {
    given: full,
    asks: async (_, { create, update }) => {
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", { ...data, flush: { via: "stop" } });
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id, flush: { via: "stop" } });
      return () => update(kept, { ...data, size: 9, flush: { via: "stop" } });
    },
    answer: "#8",
    sent: ["vm.stop #5 200", "volume.detach 200", "volume.resize #8 200", "volume.attach 200", "vm.start #5 200"],
  },
  "a volume grows that hangs on a VM, with a command that flushes it": {
    given: full,
    asks: async (_, { create, update }) => {
      const flush = { via: "command", command: [process.execPath, "-e", ""] };
      const host = await create("Vm", "web", vm);
      const kept = await create("Volume", "data", { ...data, flush });
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id, flush });
      return () => update(kept, { ...data, size: 9, flush });
    },
    answer: "#8",
    sent: ["volume.detach 200", "volume.resize #8 200", "volume.attach 200"],
  },
  "the VM that a volume's grow stopped could not be started: the next update starts it, with nothing else to do": {
    given: full,
    asks: async (program, { create, update, diff }) => {
      const host = await create("Vm", "web", vm);
      const inputs = { ...data, flush: { via: "stop" } };
      const kept = await create("Volume", "data", inputs);
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id, flush: { via: "stop" } });
      program.setFaults([{ kind: "status", code: 403, operation: "vm.start" }]);
      const grown = { ...inputs, size: 9 };
      const failed = await update(kept, grown).catch((error: PartialFailure) => ({ ...kept, ...error.kept }));
      program.setFaults([]);
      const { changes } = await diff(failed, grown);
      return async () => {
        const done = await update(failed, grown);
        return [
          changes.map(({ property }) => property),
          (await diff(done, grown)).changes,
          program.dump().vms[0]?.status,
        ];
      };
    },
    answer: [["recorded"], [], "ACTIVE"],
    sent: ["vm.start #5 200"],
  },
  "a step of it is refused: it stays as it is, with the reason": {
    asks: async (program, { create, update }) => {
      const kept = await create("Volume", "data", data);
      program.setFaults([{ kind: "status", code: 403, operation: "volume.resize" }]);
      return () => update(kept, { ...data, size: 9 });
    },
    answer: "refused [kept #5]: grow volume data from 5 to 9 GB: refused (HTTP 403): said so",
    sent: ["volume.resize #5 403"],
  },
  "a step of it fails, and the others are done": {
    asks: async (program, { create, update }) => {
      const kept = await create("Vm", "web", vm);
      program.setFaults([{ kind: "status", code: 403, operation: "vm.rename" }]);
      return () => update(kept, { ...vm, name: "web-2", flavorId: "m1.large" });
    },
    answer: "refused [kept #5]: rename VM web to web-2: refused (HTTP 403): said so",
    sent: ["vm.rename #5 403", "vm.resize #5 200", "vm.resize.confirm #5 200"],
  },
  "the VM was rebuilt behind the program's back: nothing is sent": {
    asks: async (program, { create, update }) => {
      const kept = await create("Vm", "web", vm);
      await program.client.rebuildVm(kept.id, "00000000-0000-4000-8003-000000000002");
      await program.clock.sleep(60_000);
      return () => update(kept, { ...vm, name: "web-2" });
    },
    answer: expect.stringMatching(/^refused: web: it was changed behind this program's back: run a refresh/),
  },
  "a group has rules that were added elsewhere, and no rule can be deleted: they stay": {
    asks: async (program, { create, update }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      await program.client.createRule(kept.id, {
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        portMin: 80,
        portMax: 80,
        remoteIp: "10.0.0.0/8",
      });
      return async () => {
        await update(kept, { name: "front", rules: [rule("22"), rule("443")] });
        return rulesOf(program);
      };
    },
    answer: [22, 443, 80],
    sent: ["group.rule.create #5 201"],
    says: ["front has rules that were added elsewhere; they stay until a refresh"],
  },
  "a group has rules that were added elsewhere, and they can be deleted": {
    given: full,
    asks: async (program, { create, update }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      await program.client.createRule(kept.id, {
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        portMin: 80,
        portMax: 80,
        remoteIp: "10.0.0.0/8",
      });
      return async () => {
        await update(kept, { name: "front", rules: [rule("22"), rule("443")] });
        return rulesOf(program);
      };
    },
    answer: [22, 443],
    sent: ["group.rule.create #5 201", "group.rule.delete #5 200"],
  },
};

const byStop = { ...data, flush: { via: "stop" } };

/** A grow that took the volume off its stopped VM and was killed before it could start that again. */
async function grownAndKilled(program: VirtualProgram, process: ProgramProcess) {
  const host = await process.create("Vm", "web", vm);
  const kept = await process.create("Volume", "data", byStop);
  await process.create("VolumeAttachment", "att", { vmId: host.id, volumeId: kept.id, flush: { via: "stop" } });
  program.setFaults([{ kind: "status", code: 403, operation: "vm.start" }]);
  await expect(process.update(kept, { ...byStop, size: 9 })).rejects.toThrow(/start the VM again/);
  program.setFaults([]);
  await program.clock.sleep(120_000);
  return { kept, next: program.startProcess() };
}

/** A delete that stopped the VM and was refused then. */
async function stoppedAndRefused(program: VirtualProgram, process: ProgramProcess) {
  const kept = await process.create("Vm", "web", vm);
  program.setFaults([{ kind: "status", code: 403, operation: "vm.delete" }]);
  await expect(process.remove(kept)).rejects.toThrow(/delete VM web/);
  program.setFaults([]);
  await program.clock.sleep(120_000);
  return { kept, next: program.startProcess() };
}

const leftStopped: Readonly<Record<string, Row>> = {
  "by a grow: the difference says that there is something to do": {
    given: full,
    asks: async (program, process) => {
      const { kept, next } = await grownAndKilled(program, process);
      return () => next.diff(kept, { ...byStop, size: 9 });
    },
    answer: ["recorded"],
  },
  "by a grow: the update starts it": {
    given: full,
    asks: async (program, process) => {
      const { kept, next } = await grownAndKilled(program, process);
      return () => next.update(kept, { ...byStop, size: 9 });
    },
    answer: "#8",
    sent: ["vm.start #5 200"],
  },
  "by a delete, and the program has the VM again: the difference says that it starts": {
    given: full,
    asks: async (program, process) => {
      const { kept, next } = await stoppedAndRefused(program, process);
      return () => next.diff(kept, vm);
    },
    answer: ["power", "the old one first"],
  },
  "by a delete, and the program has the VM again: the update starts it": {
    given: full,
    asks: async (program, process) => {
      const { kept, next } = await stoppedAndRefused(program, process);
      return () => next.update(kept, vm);
    },
    answer: "#5",
    sent: ["vm.start #5 200"],
  },
  "by a delete, and it is deleted again": {
    given: full,
    asks: async (program, process) => {
      const { kept, next } = await stoppedAndRefused(program, process);
      return async () => {
        await next.remove(kept);
        return program.notes("creates").filter((name) => name.endsWith("stopped"));
      };
    },
    answer: [],
    sent: ["vm.delete #5 200"],
    says: [expect.stringMatching(/^volume data volume of web .* outlived VM web/)],
  },
};

describe("a VM that stayed stopped", () => {
  it.each(Object.entries(leftStopped))("%s", (_, row) => check(row));
});

describe("the update of a resource, where", () => {
  it.each(Object.entries(updates))("%s", (_, row) => check(row));
});

const nothingKept = (kept: KeptOne): KeptOne => ({ ...kept, outputs: { ...data } });

const removals: Readonly<Record<string, Row>> = {
  "a volume hangs on a VM that goes at the same time": {
    given: full,
    asks: async (program, { create }) => {
      const host = await create("Vm", "web", vm);
      const volume = await create("Volume", "data", { ...data, flushConfirmed: true });
      await create("VolumeAttachment", "att", { vmId: host.id, volumeId: volume.id });
      const { remove } = program.startProcess();
      return async () => void (await Promise.all([remove(host), remove(volume)]));
    },
    answer: undefined,
    sent: ["vm.stop #5 200", "vm.delete #5 200", "volume.delete #8 200"],
    says: [expect.stringMatching(/^volume data volume of web \(#7\) still exists/)],
  },
  "a volume hangs on another VM than the one that its attachment was of": {
    given: full,
    asks: async (program, { create }) => {
      const host = await create("Vm", "web", vm);
      const other = await create("Vm", "db-1", { ...vm, name: "db-1" });
      const volume = await create("Volume", "data", { ...data, flushConfirmed: true });
      const ids = { vmId: host.id, volumeId: volume.id };
      const attachment = await create("VolumeAttachment", "att", { ...ids, flushConfirmed: true });
      await program.client.detachVolume(volume.id, host.id, true);
      await program.client.attachVolume(volume.id, other.id);
      const { remove } = program.startProcess();
      await remove(attachment);
      return () => remove(volume);
    },
    answer:
      "refused: volume #11 is attached to #8, and no attachment of this program says so: flushConfirmed and flush are not said of that VM — remove that attachment first",
  },
  ...Object.fromEntries(
    [false, true].map((isCancelled): [string, Row] => [
      `the list never shows that a volume was taken off its VM${isCancelled ? ", and the run is cancelled" : ""}`,
      {
        given: full,
        asks: async (program, { create }) => {
          const host = await create("Vm", "web", vm);
          const volume = await create("Volume", "data", data);
          const ids = { vmId: host.id, volumeId: volume.id };
          const attachment = await create("VolumeAttachment", "att", { ...ids, flushConfirmed: true });
          const late = await program.client.listVolumes();
          const own = new AbortController();
          const { remove } = program.startProcess({
            client: { listVolumes: async () => late },
            context: { signal: own.signal },
          });
          await remove(attachment);
          const from = program.clock.now();
          if (isCancelled) void program.clock.sleep(5000).then(() => own.abort());
          return () => remove(volume).finally(() => expect(program.clock.now() - from < 10_000).toBe(isCancelled));
        },
        answer:
          "refused: volume #8 is kept: this run took it off #5, and the service still shows it there — run this again once the service shows it detached; where somebody has attached it again, detach it there first",
      },
    ]),
  ),
  "the list still shows a volume where its attachment was taken off": {
    given: full,
    asks: async (program, { create }) => {
      const host = await create("Vm", "web", vm);
      const volume = await create("Volume", "data", data);
      const ids = { vmId: host.id, volumeId: volume.id };
      const attachment = await create("VolumeAttachment", "att", { ...ids, flushConfirmed: true });
      const late = await program.client.listVolumes();
      const isBehind = { until: Number.POSITIVE_INFINITY };
      const { remove } = program.startProcess({
        client: {
          listVolumes: async (options) =>
            program.clock.now() < isBehind.until ? late : program.client.listVolumes(options),
        },
      });
      await remove(attachment);
      isBehind.until = program.clock.now() + 20_000;
      return () => remove(volume);
    },
    answer: undefined,
    sent: ["volume.delete #8 200"],
  },
  "it is there": {
    asks: async (_, { create, remove }) => {
      const kept = await create("Volume", "data", data);
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["volume.delete #5 200"],
  },
  "nothing is remembered of it but its id": {
    asks: async (program, { create }) => {
      const kept = await create("Volume", "data", data);
      const { remove } = program.startProcess();
      return () => remove(nothingKept(kept));
    },
    answer: undefined,
    sent: ["volume.delete #5 200"],
  },
  "somebody took its record out of the state by hand, after which nothing is made anew before a refresh": {
    asks: async (program, { create, diff, update }) => {
      const kept = await create("Volume", "data", data);
      const emptied = { ...kept, outputs: { ...kept.outputs, recorded: { record: null, intent: null } } };
      const { remove } = program.startProcess();
      for (const ask of [() => diff(emptied, data), () => update(emptied, { ...data, size: 6 })])
        await expect(ask()).rejects.toThrow(/state has no record of volume data .* — run pulumi refresh/);
      return () => remove(emptied);
    },
    answer: undefined,
    sent: ["volume.delete #5 200"],
  },
  "somebody gave it another id by hand: that one goes, and not what its record is of": {
    asks: async (program, { create, diff, update, read }) => {
      const kept = await create("Volume", "data", data);
      const other = await create("Volume", "other", { name: "other", size: 7 });
      const edited = { ...kept, id: other.id };
      for (const ask of [() => diff(edited, data), () => update(edited, { ...data, size: 6 })])
        await expect(ask()).rejects.toThrow(/state has no record of volume data .* — run pulumi refresh/);
      expect((await read(edited))?.inputs).toEqual({ name: "other", size: 7 });
      const { remove } = program.startProcess();
      return () => remove(edited);
    },
    answer: undefined,
    sent: ["volume.delete #6 200"],
  },
  "nothing is remembered of it, and nothing is shown": {
    asks: async (program, { create }) => {
      const kept = await create("Volume", "data", data);
      await program.client.deleteVolume(kept.id);
      const { remove } = program.startProcess();
      return () => remove(nothingKept(kept));
    },
    answer: expect.stringMatching(
      /^refused: volume data \(#5\) is kept, and nothing was sent: the service answered that there is no such id, and has shown this program nothing else/,
    ),
  },
  "nothing is remembered of it, and it is gone, as another resource of the program vouches": {
    asks: async (program, { create }) => {
      const kept = await create("Volume", "data", data);
      const other = await create("Volume", "other", { ...data, name: "other" });
      await program.client.deleteVolume(kept.id);
      const { remove, read } = program.startProcess();
      await read(other);
      return () => remove(nothingKept(kept));
    },
    answer: undefined,
  },
  "it is gone, and nothing vouches for the credential": {
    asks: async (program, { create }) => {
      const kept = await create("Volume", "data", data);
      await program.client.deleteVolume(kept.id);
      const { remove } = program.startProcess();
      return () => remove(kept);
    },
    answer: expect.stringMatching(
      /^refused: volume data \(#5\) is kept, and nothing was sent: the service answered twice that it has no such id, but/,
    ),
  },
  "the service refuses": {
    asks: async (program, { create, remove }) => {
      const kept = await create("Volume", "data", data);
      program.setFaults([{ kind: "status", code: 403, operation: "volume.delete" }]);
      return () => remove(kept);
    },
    answer: "refused: delete volume data with its data: refused (HTTP 403): said so",
    sent: ["volume.delete #5 403"],
  },
  "an older version kept nothing of a create that is open": {
    asks:
      async (_, { remove }) =>
      () =>
        remove({ type: "Volume", name: "data", id: "pending:1", outputs: data }),
    answer: undefined,
  },
  "a VM that is to be saved first is deleted once the image of its snapshot is there": {
    asks: async (_, { create, remove }) => {
      const kept = await create("Vm", "web", { ...vm, snapshotBefore: ["delete"] });
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["vm.snapshot #5 200", "vm.stop #5 200", "vm.delete #5 200"],
    says: [expect.stringMatching(/outlived VM web/)],
  },
  "a VM that is replaced goes as the program says by now: its data volume stays": {
    asks: async (_, { create, diff, remove }) => {
      const kept = await create("Vm", "web", { ...vm, preservedVolumes: "delete" });
      await diff(kept, { ...vm, rootSize: 80, snapshotBefore: ["delete"] });
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["vm.snapshot #5 200", "vm.stop #5 200", "vm.delete #5 200"],
    says: [expect.stringMatching(/outlived VM web/)],
  },
  "a VM that is replaced goes as the program says by now: its data volume goes": {
    asks: async (_, { create, diff, remove }) => {
      const kept = await create("Vm", "web", { ...vm, snapshotBefore: ["delete"] });
      await diff(kept, { ...vm, rootSize: 80, preservedVolumes: "delete" });
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["vm.delete #5 200", "volume.delete #7 200"],
  },
  "a VM whose delete was cut off leaves what its note names": {
    asks: async (program, { create, remove }) => {
      const kept = await create("Vm", "web", vm);
      const other = await create("Volume", "other", { ...data, name: "other" });
      await program.client.deleteVm(kept.id, undefined);
      await program.clock.sleep(60_000);
      const { notes } = program.startProcess().contextOf("Vm", "web");
      await notes!.writeLeaving({ id: kept.id, disks: [{ id: other.id, kind: "attached" } as never] });
      return () => remove(kept);
    },
    answer: undefined,
    says: [
      'volume web-data (#7) still exists: outlived VM web; nothing manages it until a resource of this program has adopt: "#7"',
      'volume other (#8) still exists: outlived VM web; nothing manages it until a resource of this program has adopt: "#8"',
    ],
  },
};

describe("the delete of a resource, where", () => {
  it.each(Object.entries(removals))("%s", (_, row) => check(row));
});

const creates: Readonly<Record<string, Row>> = {
  "nothing has its name": {
    asks:
      async (_, { create }) =>
      () =>
        create("Volume", "data", data),
    answer: "#5",
    sent: ["volume.create 201"],
  },
  "the service refuses: nothing is kept": {
    asks: async (program, { create }) => {
      program.setFaults([{ kind: "status", code: 403, operation: "volume.create" }]);
      return () => create("Volume", "data", data);
    },
    answer: "refused: create volume data of 5 GB: refused (HTTP 403): said so",
    sent: ["volume.create 403"],
  },
  "another resource of the program has sent the same, as its note says": {
    asks: async (program, { create }) => {
      await program.startProcess().create("Volume", "data", data);
      return () => create("Volume", "renamed", data);
    },
    answer: expect.stringMatching(
      /^refused: a run that was cut off sent the create of data at 2026-01-01T00:00:00.000Z, which made #5, .*Volume::data/,
    ),
  },
  "another resource of the program has sent the same, and the user says that it is another one": {
    asks: async (program, { create }) => {
      await program.startProcess().create("Volume", "data", data);
      return () => create("Volume", "renamed", { ...data, adopt: "none" });
    },
    answer: "#6",
    sent: ["volume.create 201"],
  },
  "another resource of the program has sent the same, and a list would show it": {
    given: full,
    asks: async (program, { create }) => {
      await program.startProcess().create("Volume", "data", data);
      return () => create("Volume", "renamed", data);
    },
    answer: expect.stringMatching(/^refused: a volume named data exists already \(#5\)/),
  },
  "its own create was noted, and another id is taken over": {
    asks: async (program, { create }) => {
      const first = await program.startProcess().create("Volume", "data", data);
      const other = await program.startProcess().create("Volume", "other", { ...data, name: "other" });
      expect(first.id).not.toBe(other.id);
      return () => create("Volume", "data", { ...data, name: "other", adopt: other.id });
    },
    answer: "#6",
    says: ["a run that was cut off made volume #5 for this resource as well, which nothing manages"],
  },
  "its own create was noted as open, and the service has what bears its name": {
    given: full,
    asks: async (program, { create }) => {
      await openCreate(program);
      return () => create("Volume", "data", data);
    },
    answer: "#5",
  },
  "its own create was noted as accepted": {
    asks: async (program, { create }) => {
      const { notes } = program.startProcess().contextOf("Volume", "data");
      await notes!.write({ sentAt: "2026-01-01T00:00:00Z", idsBefore: [], accepted: true }, { name: "data" });
      return () => create("Volume", "data", data);
    },
    answer: expect.stringMatching(
      /^refused: a run that was cut off sent the create of data at 2026-01-01T00:00:00Z, and its outcome is not known/,
    ),
  },
  "its own create was noted by its id, and what it made is gone": {
    given: full,
    asks: async (program, { create, diff }) => {
      const first = await program.startProcess().create("Volume", "data", data);
      const other = { ...data, name: "other" };
      const kept = await program.startProcess().create("Volume", "other", other);
      await program.client.deleteVolume(first.id);
      await diff(outputsWith(kept, { imported: true }), { ...other, size: 6 });
      return () => create("Volume", "data", data);
    },
    answer: "#7",
    sent: ["volume.create 201"],
  },
  "its own create was noted by its id: the command is owed since it was sent": {
    asks: async (program) => {
      const wanted = { ...vm, afterReady: { command: ["true"] } };
      const fails = { service: { runCommand: async () => ({ exitCode: 1, output: "no" }) } };
      const make = (): Promise<unknown> =>
        program
          .startProcess(fails)
          .create("Vm", "web", wanted)
          .catch((error: PartialFailure) => (error.kept.outputs["recorded"] as { record: Props }).record["owes"]);
      await make();
      return make;
    },
    answer: [{ command: "after_ready", reason: "created", since: expect.stringMatching(/^2026-01-01T00:00:00/) }],
    says: [
      expect.stringMatching(
        /^web \(#5\) was made by an earlier run, and Pulumi's state does not have it; it is managed from now on/,
      ),
    ],
  },
  "what is taken over would have to lose something": {
    asks: async (_, { create }) => {
      const first = await create("Vm", "web", vm);
      return () => create("Vm", "web2", { ...vm, imageId: "debian-12", adopt: first.id });
    },
    answer: expect.stringMatching(
      /^refused: web: taking it over would go further than a preview can show — the root disk of VM web \(#5\) is wiped/,
    ),
  },
  "a credential of another project makes nothing beside what the program has": {
    asks: async (program) => {
      const first = await program.startProcess().create("Volume", "data", data);
      const outsider = program.startProcess({ token: "outsider-token" });
      await outsider.read(first);
      return () => outsider.create("Volume", "new", { ...data, name: "new" });
    },
    answer: expect.stringMatching(
      /^refused: nothing is made: the service shows none of what this program has made already \(volume #5\)/,
    ),
    says: [],
  },
  "the user says that such a credential is the right one": {
    asks: async (program) => {
      const first = await program.startProcess().create("Volume", "data", data);
      const outsider = program.startProcess({ token: "outsider-token", service: { acceptService: true } });
      await outsider.diff(first, data);
      return () => outsider.create("Volume", "new", { ...data, name: "new" });
    },
    answer: "#6",
    sent: ["volume.create 201"],
  },
};

describe("the create of a resource, where", () => {
  it.each(Object.entries(creates))("%s", (_, row) => check(row));
});

it("a rebuild that did not show is sent again after a refresh, and not before", async () => {
  const program = startVirtualProgram(full);
  const deaf = program.startProcess({ client: { rebuildVm: async () => accepted(undefined) } });
  const made = await deaf.create("Vm", "web", vm);
  const other = { ...vm, imageId: "00000000-0000-4000-8003-000000000002" };
  const failed: unknown = await deaf.update(made, other).catch((error: unknown) => error);
  expect(failed).toMatchObject({ message: expect.stringContaining("it is still not rebuilt") });
  const kept = { ...made, outputs: (failed as { readonly kept: Pick<KeptOne, "outputs"> }).kept.outputs };
  const heard = program.startProcess();
  await expect(heard.update(kept, other)).rejects.toThrow(/is wiped by the rebuild — run a refresh/);
  const found = await heard.read(kept);
  await heard.update({ ...kept, outputs: found!.outputs }, other);
  expect(program.vms()[0]).toMatchObject({ image_id: other.imageId });
});

describe("a state from which somebody took a part of a record by hand", () => {
  const made = { Vm: vm, Volume: data, SecurityGroup: { name: "web", rules: [rule("443")] } } as const;
  it.each(["Vm", "Volume", "SecurityGroup"] as const)(
    "of a %s: a refresh looks it up, and nothing is made anew",
    async (type) => {
      const program = startVirtualProgram(full);
      const kept = await program.startProcess().create(type, made[type].name, made[type]);
      const { record } = kept.outputs["recorded"] as { readonly record: Props };
      for (const part of Object.keys(record)) {
        const { [part]: _, ...rest } = record;
        const damaged = {
          ...kept,
          outputs: { ...kept.outputs, recorded: { ...Object(kept.outputs["recorded"]), record: rest } },
        };
        const { diff, update, read } = program.startProcess();
        for (const ask of [() => diff(damaged, made[type]), () => update(damaged, made[type])])
          await ask().catch(({ message }: Error) =>
            expect(message, part).toMatch(/state has no record of .* — run pulumi refresh/),
          );
        const found = await read(damaged);
        expect((await diff({ ...kept, outputs: found!.outputs }, made[type])).changes, part).toEqual([]);
      }
      expect(program.sent).toEqual([expect.stringMatching(/\.create/)]);
    },
  );
});
