/**
 * What a program deletes, makes and owns rests on what was seen, also when several processes serve it, when all of them
 * are killed at once, and when the credential is another project's. Each "process" has a client of its own, and notes of
 * its own over what the program remembers. They are told in virtual time (test/engine/earned-*.test.ts) and over real
 * HTTP (test/pulumi/earned.test.ts); test/pulumi/real tries the same with the command line.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { FaultSpec } from "../../emulator/faults";
import { type HandlerContext, PartialFailure, type Props } from "../../reconciler/one/handler";
import { type HandlerType, handlers } from "../../reconciler/one/table";
import type { ServiceClient } from "../../reconciler/service/client";
import type { KeptOne, ProgramProcess } from "./program-process";

/** What the service is able to do beside the contract, and the kinds of which it refuses a second one of a name. */
export interface Given {
  readonly with?: readonly string[];
  readonly unique?: readonly [];
}

interface Thing {
  readonly id: string;
  readonly name: string;
}

interface EarnedStage {
  readonly log: string[];
  readonly client: ServiceClient;
  startProcess(options?: {
    readonly token?: string;
    readonly isInState?: boolean;
    readonly pid?: number;
    readonly looks?: false;
  }): ProgramProcess & { contextOf(type: HandlerType, name: string): HandlerContext };
  setFaults(faults: readonly FaultSpec[]): void;
  dump(): { readonly volumes: readonly (Thing & { readonly root: boolean })[] };
  notes(part: "creates" | "owners"): readonly string[];
  volumes(): readonly (Thing & { readonly attached_to: string | null })[];
  vms(): readonly Thing[];
  groups(): readonly Thing[];
  rules(): readonly object[];
  close(): Promise<void>;
}

export type StartStage = (given: Given) => EarnedStage | Promise<EarnedStage>;

const vm = {
  ...{ name: "web-a", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};
const ssh = (securityGroupId: string) => ({ securityGroupId, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" });

const builtIn: Given = {};
const full: Given = { with: ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"] };
const services = [
  ["the built-in dialect", builtIn],
  ["every list", full],
] as const;

/** One of each type, in the order of their making. */
async function makeAll({ startProcess }: EarnedStage): Promise<Record<HandlerType, KeptOne>> {
  const first = startProcess();
  const Vm = await first.create("Vm", "web-a", vm);
  const Volume = await first.create("Volume", "data", { name: "data", size: 5, flushConfirmed: true });
  const SecurityGroup = await first.create("SecurityGroup", "web-group", { name: "web-group", rulesMode: "shared" });
  const VolumeAttachment = await first.create("VolumeAttachment", "att", {
    ...{ vmId: Vm.id, volumeId: Volume.id, flushConfirmed: true },
  });
  const SecurityGroupRule = await first.create("SecurityGroupRule", "ssh", ssh(SecurityGroup.id));
  return { Vm, Volume, SecurityGroup, VolumeAttachment, SecurityGroupRule };
}

export function earnedStories(start: StartStage) {
  let stage: EarnedStage;
  const tell = (stories: () => void) => () => {
    afterEach(() => stage.close());
    stories();
  };

  return {
    deletes: tell(() => {
      describe.each(services)("a delete that is answered with not-found, %s", (_, given) => {
        const types = ["SecurityGroupRule", "VolumeAttachment", "Vm", "Volume", "SecurityGroup"] as const;

        it.each(types)("by another project's credential forgets no %s, however often it is tried", async (type) => {
          stage = await start(given);
          const made = await makeAll(stage);
          const before = [stage.vms(), stage.volumes(), stage.groups(), stage.rules()];
          for (let round = 0; round < 2; round++) {
            const outsider = stage.startProcess({ token: "outsider-token" });
            await expect(outsider.remove(made[type])).rejects.toThrow(/credential of the project|not found/);
          }
          expect([stage.vms(), stage.volumes(), stage.groups(), stage.rules()]).toEqual(before);
        });

        it("forgets what is gone where another resource of the program is seen, and asks where nothing is", async () => {
          stage = await start(given);
          const first = stage.startProcess();
          const one = await first.create("Volume", "one", { name: "one", size: 5 });
          const other = await first.create("Volume", "other", { name: "other", size: 6 });
          await stage.client.deleteVolume(one.id);
          await expect(stage.startProcess().remove(one)).rejects.toThrow(/pulumi state delete/);
          const next = stage.startProcess();
          await next.diff(other, { name: "other", size: 6 });
          await next.remove(one);
          expect(stage.log.join("\n")).toMatch(/volume one .* was gone already/);
          await next.remove(other);
          expect(stage.volumes()).toEqual([]);
        });
      });

      it.each(services)(
        "a create by another project's credential makes nothing beside what the program has, %s",
        async (_, given) => {
          stage = await start(given);
          const inputs = { name: "one", size: 5 };
          const one = await stage.startProcess().create("Volume", "one", inputs);
          const outsider = stage.startProcess({ token: "outsider-token" });
          await outsider.diff(one, inputs);
          for (const door of ["preview", "create"] as const)
            await expect(outsider[door]("SecurityGroup", "new", { name: "new" })).rejects.toThrow(
              /credential of the program's/,
            );
          expect([stage.volumes().length, stage.groups()]).toEqual([1, []]);
          const own = stage.startProcess();
          await own.diff(one, inputs);
          await own.create("SecurityGroup", "new", { name: "new" });
          expect(stage.groups()).toHaveLength(1);
        },
      );

      it("a replacement that only Pulumi's user wants makes another one, whatever note its former version left", async () => {
        stage = await start(full);
        const inputs = { name: "front" };
        const old = await stage.startProcess().create("SecurityGroup", "front", inputs);
        const next = stage.startProcess({ isInState: true });
        // Pulumi asks for no difference then: nothing has told the process which id the state has.
        const made = await next.create("SecurityGroup", "front", { name: "front-4f2a9c1" });
        expect(made.id).not.toBe(old.id);
        await next.remove(old);
        expect(stage.groups().map(({ id }) => id)).toEqual([made.id]);
        const last = stage.startProcess({ isInState: true });
        const third = await last.create("SecurityGroup", "front", { name: "front-5a3b0d2" });
        expect([old.id, made.id]).not.toContain(third.id);
      });

      it("what is to be replaced right after it was made is, where the user has told the engine so", async () => {
        stage = await start(builtIn);
        const inputs = { name: "data", size: 5 };
        const old = await stage.startProcess().create("Volume", "data", inputs);
        const next = stage.startProcess({ isInState: true });
        const made = await next.create("Volume", "data", inputs);
        expect(made.id).not.toBe(old.id);
        await next.remove(old);
        // And once more, though no run has compared it since.
        const third = await stage.startProcess({ isInState: true }).create("Volume", "data", inputs);
        expect([old.id, made.id]).not.toContain(third.id);
      });
    }),
    looks: tell(() => {
      it.each(services)(
        "what is imported has to be seen: an attachment whose two ids are swapped, %s",
        async (_, given) => {
          stage = await start(given);
          const { VolumeAttachment: made } = await makeAll(stage);
          const imported = async (id: string) =>
            stage.startProcess().read({ ...made, id, outputs: undefined as unknown as Props });
          expect((await imported(made.id))?.id).toBe(made.id);
          expect(await imported(made.id.split("/").reverse().join("/"))).toBeUndefined();
        },
      );

      it("a refresh keeps what nothing vouches for, and says what to do where it is really gone", async () => {
        stage = await start(builtIn);
        const only = await stage.startProcess().create("Volume", "only", { name: "only", size: 5 });
        await stage.client.deleteVolume(only.id);
        expect((await stage.startProcess().read(only))?.id).toBe(only.id);
        expect(stage.log.join()).toMatch(/is kept as it was: .*; where it is really gone: pulumi state delete/);
      });

      describe.each(services)(
        "a refresh tells what an update would be refused for, and the update is, %s",
        (_, given) => {
          it("a VM that was renamed elsewhere, whose name another one has by now", async () => {
            stage = await start(given);
            const host = await stage.startProcess().create("Vm", "web-a", vm);
            await stage.client.renameVm(host.id, "elsewhere");
            await stage.startProcess().create("Vm", "thief", vm);
            const next = stage.startProcess();
            const seen = await next.read(host);
            expect(seen?.inputs["name"]).toBe("elsewhere");
            const shown = { ...host, outputs: { ...seen!.outputs, ...seen!.inputs } };
            const told = await next.diff(shown, vm);
            expect(told).toMatchObject({ changes: [{ property: "name", replaces: false }], replaces: [] });
            expect(told.warnings.join()).toMatch(/next update will be refused.*cannot have the name web-a/);
            // `up --refresh` asks again in the same process.
            await expect(next.diff(shown, vm)).rejects.toThrow(/cannot have the name web-a/);
            await expect(stage.startProcess().diff(shown, vm)).rejects.toThrow(/cannot have the name web-a/);
          });

          it("a volume that somebody has grown, which nothing makes smaller again", async () => {
            stage = await start(given);
            const inputs = { name: "data", size: 5, flushConfirmed: true };
            const data = await stage.startProcess().create("Volume", "data", inputs);
            await stage.client.resizeVolume(data.id, 8);
            const next = stage.startProcess();
            const seen = await next.read(data);
            const shown = { ...data, outputs: { ...seen!.outputs, ...seen!.inputs } };
            const told = await next.diff(shown, inputs);
            expect([seen?.inputs["size"], told.changes, told.warnings.length]).toEqual([
              8,
              [{ property: "size", replaces: false }],
              1,
            ]);
            await expect(next.diff(shown, inputs)).rejects.toThrow(/smaller|shrink/);
            // A program that calls the handlers itself is answered the same whatever it has called before.
            const context = stage.startProcess({ looks: false }).contextOf("Volume", "data");
            const { Volume } = handlers;
            const read = await Volume.read(context, data.id, data.outputs);
            const refused = Volume.diff(context, data.id, { ...read?.outputs, ...read?.inputs }, inputs);
            await expect(refused).rejects.toThrow(/smaller|shrink/);
          });
        },
      );

      it("what names a resource that failed is asked about without its id, and only its own create or update misses it", async () => {
        stage = await start(full);
        const made = await makeAll(stage);
        const { diff, create, preview, update } = stage.startProcess();
        for (const [type, inputs, id] of [
          ["SecurityGroupRule", ssh("of the group"), "securityGroupId"],
          ["VolumeAttachment", { vmId: "of the VM", volumeId: made.Volume.id }, "vmId"],
        ] as const) {
          const { [id]: _dropped, ...left } = { ...inputs } as Record<string, unknown>;
          for (const exists of [true, false])
            expect(handlers[type].check(left, exists)).toMatchObject({ failures: [], inputs: left });
          expect(await diff(made[type], left)).toMatchObject({
            changes: [{ property: id, replaces: false }],
            replaces: [],
          });
          for (const refused of [preview(type, "new", left), create(type, "new", left), update(made[type], left)])
            await expect(refused).rejects.toThrow(`needs ${id}`);
          expect(await preview(type, "new", { ...inputs, [id]: "pending:1" })).toEqual([]);
        }
        expect([stage.rules().length, stage.volumes()[0]?.attached_to]).toEqual([1, made.Vm.id]);
      });

      it("a record that a newer plugin wrote is neither compared, read, changed nor deleted, and its resource stays", async () => {
        stage = await start(full);
        const made = await makeAll(stage);
        const { diff, read, remove } = stage.startProcess();
        for (const kept of Object.values(made)) {
          const recorded = { ...(kept.outputs["recorded"] as object), version: 2, needs: "9.1.0" };
          const newer = { ...kept, outputs: { ...kept.outputs, recorded } };
          const { recorded: _, ...inputs } = kept.outputs;
          for (const done of [diff(newer, inputs), read(newer), remove(newer)])
            await expect(done, kept.type).rejects.toThrow("written by a newer version of reconcile: its version is 2");
        }
        expect([stage.vms().length, stage.volumes().length]).toEqual([1, 1]);
      });
    }),
    deletesSent: tell(() => {
      describe("a delete that was sent", () => {
        it("and whose answer was lost is known to be this program's own, by the next process as well", async () => {
          stage = await start(builtIn);
          const only = await stage.startProcess().create("Volume", "only", { name: "only", size: 5 });
          stage.setFaults([
            { kind: "drop-after", operation: "volume.delete", count: 99 },
            { kind: "status", code: 503, operation: "volume.get", count: 99, skip: 2 },
          ]);
          await expect(stage.startProcess().remove(only)).rejects.toThrow();
          expect(stage.notes("creates").filter((file) => file.includes("left"))).toHaveLength(1);
          stage.setFaults([]);
          await stage.startProcess().remove(only);
          expect(stage.volumes()).toEqual([]);
        });

        it("and done, is done for the next process too, whose engine has not heard of it", async () => {
          for (const given of [builtIn, full]) {
            stage = await start(given);
            const host = await stage.startProcess().create("Vm", "web-a", vm);
            const other = await stage.startProcess().create("Volume", "other", { name: "other", size: 5 });
            const group = await stage.startProcess().create("SecurityGroup", "front", { name: "front" });
            await stage.startProcess().remove(group);
            // The engine was killed, and so knows of no end: it asks again, while others of the program stay.
            const next = stage.startProcess();
            await next.diff(other, { name: "other", size: 5 });
            await next.remove(group);
            await stage.startProcess().remove(host);
            await stage.startProcess().remove(host);
            // The same name made anew is another one.
            const again = await stage.startProcess().create("SecurityGroup", "front", { name: "front" });
            await expect(stage.startProcess({ token: "outsider-token" }).remove(again)).rejects.toThrow(/is kept/);
            expect(stage.notes("creates").filter((file) => file.includes("left"))).toHaveLength(1);
            await stage.close();
          }
        });

        describe.each(services)("to a VM whose data volume goes with it, %s", (_, given) => {
          const takesItsVolume = { ...vm, preservedVolumes: "delete" };
          const inputs = { name: "other", size: 5 };
          const dataVolumes = () => stage.dump().volumes.filter(({ name }) => name.endsWith("-data"));
          const lost = async () => {
            stage = await start(given);
            const host = await stage.startProcess().create("Vm", "web-a", takesItsVolume);
            const other = await stage.startProcess().create("Volume", "other", inputs);
            stage.setFaults([
              { kind: "drop-after", operation: "vm.delete", count: 1 },
              { kind: "drop-before", operation: "vm.delete", count: 99, skip: 1 },
              // Nothing after the delete tells either that the VM is gone.
              { kind: "status", code: 503, operation: "vm.list", count: 99, skip: 3 },
              { kind: "status", code: 503, operation: "vm.get", count: 99, skip: 3 },
            ]);
            await expect(stage.startProcess().remove(host)).rejects.toThrow();
            stage.setFaults([]);
            expect([stage.vms().length, dataVolumes().length]).toEqual([0, 1]);
            stage.log.length = 0;
            const next = stage.startProcess();
            await next.diff(other, inputs);
            return { host, other, next };
          };

          it("whose answer was lost: the volume is deleted by the next one", async () => {
            const { host, next } = await lost();
            await next.remove(host);
            expect(dataVolumes()).toEqual([]);
            expect(stage.log.join()).not.toContain("adopt");
          });

          it("and of which the service keeps the volume at first: the one after that deletes it", async () => {
            stage = await start(given);
            const host = await stage.startProcess().create("Vm", "web-a", takesItsVolume);
            await stage.startProcess().create("Volume", "other", inputs);
            stage.setFaults([{ kind: "status", code: 403, operation: "volume.delete", when: "before" }]);
            for (const _ of ["the VM goes, and not its volume", "nor the second time"])
              await expect(stage.startProcess().remove(host)).rejects.toThrow(/volume .*HTTP 403/);
            stage.setFaults([]);
            await stage.startProcess().remove(host);
            expect([stage.vms(), dataVolumes()]).toEqual([[], []]);
          });

          it("a refresh keeps it in the state until then, and an update that wants it replaces it", async () => {
            const { host, next } = await lost();
            expect((await next.read(host))?.id).toBe(host.id);
            expect(stage.log.join()).toMatch(/stays in the state until .* of its delete: data volume .* of 10 GB/);
            expect((await next.diff(host, takesItsVolume)).replaces).toEqual(["recorded"]);
            await next.remove(host);
            expect(await next.read(host)).toBeUndefined();
            expect(dataVolumes()).toEqual([]);
          });

          it("not where another resource has taken that volume over", async () => {
            const { host, next } = await lost();
            const [data] = dataVolumes();
            const taken = { name: data!.name, size: 10, adopt: data!.id };
            await next.create("Volume", "data", taken);
            await next.remove(host);
            expect(dataVolumes().map(({ id }) => id)).toEqual([data!.id]);
          });
        });

        it("to a VM whose data volume goes with it says of nothing that it is left", async () => {
          stage = await start(full);
          const host = await stage.startProcess().create("Vm", "web-a", { ...vm, preservedVolumes: "delete" });
          await stage.startProcess().remove(host);
          expect(stage.dump().volumes).toEqual([]);
          expect(stage.log.filter((line) => line.startsWith("warning"))).toEqual([]);
        });

        it("to a VM leaves the data volume that another resource has taken over, though it was to go with it", async () => {
          stage = await start(full);
          const host = await stage.startProcess().create("Vm", "web-a", { ...vm, preservedVolumes: "delete" });
          const [data] = stage.dump().volumes.filter(({ root }) => !root);
          await stage.startProcess().create("Volume", "data", { name: data!.name, size: 10, adopt: data!.id });
          await stage.startProcess().remove(host);
          expect(stage.dump().volumes.map(({ id }) => id)).toEqual([data!.id]);
        });

        it("and refused is no reason to believe later that it is gone", async () => {
          stage = await start(builtIn);
          const other = await stage
            .startProcess()
            .create("SecurityGroup", "other", { name: "other", rulesMode: "shared" });
          await expect(stage.startProcess({ token: "member-token" }).remove(other)).rejects.toThrow(/refused/);
          expect(stage.notes("creates").filter((file) => file.includes("left"))).toEqual([]);
          await expect(stage.startProcess({ token: "outsider-token" }).remove(other)).rejects.toThrow(/credential/);
          expect(stage.groups()).toHaveLength(1);
        });
      });
    }),
    creates: tell(() => {
      describe("a create whose engine and process were killed together", () => {
        it.each([
          ["Volume", { name: "data", size: 5 }],
          ["Vm", vm],
          ["SecurityGroup", { name: "web-group", rules: [] }],
        ] as const)("is known by its id until the state has it, however old: %s", async (type, inputs: Props) => {
          for (const [, given] of services) {
            stage = await start(given);
            const lost = await stage.startProcess().create(type, "it", inputs);
            // Nobody has kept it. Whatever time passes, and whoever is asked before: the next create finds the same one.
            const found = await stage.startProcess().create(type, "it", inputs);
            expect(found.id).toBe(lost.id);
            expect(stage.notes("creates")).not.toEqual([]);
            await stage.startProcess().diff(found, inputs);
            expect(stage.notes("creates")).toEqual([]);
            await stage.close();
          }
          stage = await start(builtIn);
        });

        it("is not taken for what the state holds under another name by now", async () => {
          stage = await start(builtIn);
          const inputs = { name: "data", size: 5 };
          const data = await stage.startProcess().create("Volume", "data", inputs);
          const next = stage.startProcess();
          await next.diff({ ...data, name: "renamed-by-an-alias" }, inputs);
          const another = await next.create("Volume", "data", inputs);
          expect(another.id).not.toBe(data.id);
          expect(stage.volumes()).toHaveLength(2);
        });

        it("or lived on after a cancel, beside another update of the stack, whose state knows nothing of what it made", async () => {
          stage = await start(builtIn);
          const make = async ({ create }: ReturnType<EarnedStage["startProcess"]>) => {
            const Vm = await create("Vm", "web-a", vm);
            const Volume = await create("Volume", "data", { name: "data", size: 5 });
            const group = await create("SecurityGroup", "web-group", { name: "web-group", rules: [] });
            const attachment = { vmId: Vm.id, volumeId: Volume.id, flushConfirmed: true };
            return [Vm, Volume, group, await create("VolumeAttachment", "att", attachment)].map(({ id }) => id);
          };
          // Whether the first one lives or has ended since, and whichever state is written last.
          const made = await make(stage.startProcess({ pid: process.pid }));
          for (let update = 0; update < 2; update++) expect(await make(stage.startProcess())).toEqual(made);
          expect([stage.vms().length, stage.volumes().length, stage.groups().length]).toEqual([1, 1, 1]);
        });

        it("of a replacement that another update of the stack has made since this one's engine read its state", async () => {
          stage = await start(builtIn);
          const inputs = { name: "data", size: 5 };
          const old = await stage.startProcess().create("Volume", "data", inputs);
          const first = stage.startProcess({ isInState: true });
          const made = await first.create("Volume", "data", { ...inputs, size: 4 });
          await first.remove(old);
          const second = stage.startProcess({ isInState: true });
          await second.diff(old, { ...inputs, size: 4 });
          expect((await second.create("Volume", "data", { ...inputs, size: 4 })).id).toBe(made.id);
          expect(stage.volumes()).toHaveLength(1);
        });

        it("of a replacement is not forgotten because the state still has the one before it", async () => {
          stage = await start(builtIn);
          const old = await stage.startProcess().create("Volume", "data", { name: "data", size: 5 });
          const wanted = { name: "data-2", size: 5 };
          await stage.startProcess().diff(old, wanted);
          const lost = await stage.startProcess().create("Volume", "data", wanted);
          const next = stage.startProcess();
          await next.diff(old, wanted);
          expect((await next.create("Volume", "data", wanted)).id).toBe(lost.id);
          expect(stage.volumes()).toHaveLength(2);
        });
      });
    }),
    openCreates: tell(() => {
      describe("a create that was sent and whose outcome nobody has seen", () => {
        /** Sent, and the process killed before the answer. */
        const cutOff = async (type: HandlerType, inputs: Props, kind: "drop-before" | "drop-after"): Promise<void> => {
          const operation = { Volume: "volume.create", Vm: "vm.create", SecurityGroup: "group.create" }[type as "Vm"];
          stage.setFaults([{ kind, operation, count: 99 }]);
          const failed = await stage
            .startProcess()
            .create(type, String(inputs["name"]), inputs)
            .catch((error) => error);
          expect(failed).toBeInstanceOf(PartialFailure);
          stage.setFaults([]);
        };
        const data = { name: "data", size: 5 };

        it("is settled one by one, by the id or by none, and the others stay open", async () => {
          stage = await start(builtIn);
          await cutOff("Volume", { name: "made", size: 5 }, "drop-after");
          await cutOff("Volume", { name: "not-made", size: 6 }, "drop-before");
          const create = (name: string, size: number, more: Props = {}) =>
            stage.startProcess().create("Volume", name, { name, size, ...more });
          for (const [name, size] of [
            ["made", 5],
            ["not-made", 6],
          ] as const)
            await expect(create(name, size)).rejects.toThrow(/adopt: "<its id>"; if it does not, set adopt: "none"/);
          // A preview tells it, and does not fail: the others can be made.
          const told = await stage.startProcess().preview("Volume", "made", { name: "made", size: 5 });
          expect(told.join()).toMatch(/the update will refuse this one: .* adopt: "none"/);
          await create("not-made", 6, { adopt: "none" });
          await expect(create("made", 5)).rejects.toThrow(/cut off/);
          const [{ id = "" } = {}] = stage.volumes().filter(({ name }) => name === "made");
          expect((await create("made", 5, { adopt: id })).id).toBe(id);
          expect(
            stage
              .volumes()
              .map(({ name }) => name)
              .sort(),
          ).toEqual(["made", "not-made"]);
        });

        it("is not settled by a none that stood in the program when it was sent", async () => {
          stage = await start(builtIn);
          await cutOff("Volume", { ...data, adopt: "none" }, "drop-after");
          const create = (inputs: Props) => stage.startProcess().create("Volume", "data", inputs);
          await expect(create({ ...data, adopt: "none" })).rejects.toThrow(/take that out and update once/);
          await expect(create(data)).rejects.toThrow(/adopt: "none"/);
          expect(stage.volumes()).toHaveLength(1);
          await create({ ...data, adopt: "none" });
          expect(stage.volumes()).toHaveLength(2);
        });

        it.each(["drop-before", "drop-after"] as const)(
          "of a group is sent again, and none is made twice: %s",
          async (kind) => {
            stage = await start(builtIn);
            const inputs = { name: "web-group", rules: [] };
            await cutOff("SecurityGroup", inputs, kind);
            const again = stage.startProcess().create("SecurityGroup", "web-group", inputs);
            if (kind === "drop-before") await again;
            else {
              await expect(again).rejects.toThrow(/adopt/);
              const [{ id = "" } = {}] = stage.groups();
              const taken = await stage.startProcess().create("SecurityGroup", "web-group", { ...inputs, adopt: id });
              expect(taken.id).toBe(id);
            }
            expect(stage.groups()).toHaveLength(1);
          },
        );

        it.each(["drop-before", "drop-after"] as const)(
          "of a group that the state keeps as open is sent again by the next update: %s",
          async (kind) => {
            stage = await start(builtIn);
            const inputs = { name: "web-group", rules: [] };
            stage.setFaults([{ kind, operation: "group.create", count: 99 }]);
            const failed = (await stage
              .startProcess()
              .create("SecurityGroup", "web-group", inputs)
              .catch((error) => error)) as PartialFailure;
            stage.setFaults([]);
            const open: KeptOne = { type: "SecurityGroup", name: "web-group", ...failed.kept };
            expect(open.id).toMatch(/^pending:/);
            const next = stage.startProcess();
            const found = await next.diff(open, inputs);
            expect([found.replaces, found.deleteBeforeReplace]).toEqual([["recorded"], false]);
            expect(found.warnings.join()).toMatch(/is sent again: nothing else can have its name/);
            stage.log.length = 0;
            if (kind === "drop-before") {
              const made = await next.create("SecurityGroup", "web-group", inputs);
              await next.remove(open);
              expect(stage.log.join("\n")).not.toMatch(/given up/);
              expect(stage.groups().map(({ id }) => id)).toEqual([made.id]);
            } else await expect(next.create("SecurityGroup", "web-group", inputs)).rejects.toThrow(/adopt: "<its id>"/);
            expect(stage.groups()).toHaveLength(1);
          },
        );

        it.each(["Volume", "SecurityGroup"] as const)(
          "of a %s that the state keeps as open and its id has settled: whoever deletes or reads what the state kept of it has nothing to say",
          async (type) => {
            stage = await start(builtIn);
            const inputs = type === "Volume" ? data : { name: "web-group", rules: [] };
            const operation = type === "Volume" ? "volume.create" : "group.create";
            stage.setFaults([{ kind: "drop-after", operation, count: 99 }]);
            const failed = (await stage
              .startProcess()
              .create(type, inputs.name, inputs)
              .catch((error) => error)) as PartialFailure;
            stage.setFaults([]);
            const open: KeptOne = { type, name: inputs.name, ...failed.kept };
            const things = () => (type === "Volume" ? stage.volumes() : stage.groups()).map(({ id }) => id);
            const [id = ""] = things();
            const adopting = { ...inputs, adopt: id };
            const next = stage.startProcess({ isInState: true });
            const found = await next.diff(open, adopting);
            expect([found.replaces, found.deleteBeforeReplace]).toEqual([["recorded"], false]);
            expect(found.warnings.join()).not.toMatch(/sent again/);
            const taken = await next.create(type, inputs.name, adopting);
            expect(taken.id).toBe(id);
            // The engine was killed before the delete of what the state kept, or gave up for another resource's error.
            stage.log.length = 0;
            const last = stage.startProcess();
            expect(await last.read(open)).toMatchObject({ id: open.id });
            await last.remove(open);
            expect(stage.log).toEqual([]);
            expect(things()).toEqual([id]);
            expect((await last.diff(taken, adopting)).changes).toEqual([]);
            await last.remove(taken);
            expect([things(), stage.notes("owners")]).toEqual([[], []]);
          },
        );

        it("is not sent again for a group where names are not unique", async () => {
          stage = await start({ unique: [] });
          const inputs = { name: "web-group", rules: [] };
          await cutOff("SecurityGroup", inputs, "drop-after");
          await expect(stage.startProcess().create("SecurityGroup", "web-group", inputs)).rejects.toThrow(
            /adopt: "none"/,
          );
        });
      });
    }),
    takenOver: tell(() => {
      describe("what two processes serve", () => {
        it.each([true, false])(
          "a new name is a take-over, which the old one's delete leaves alone; told before: %s",
          async (isPreviewed) => {
            stage = await start(full);
            const made = await makeAll(stage);
            const [p, d] = [stage.startProcess(), stage.startProcess()];
            const attachment = { vmId: made.Vm.id, volumeId: made.Volume.id, flushConfirmed: true };
            const taken = [
              ["VolumeAttachment", "att2", attachment, made.VolumeAttachment],
              ["SecurityGroupRule", "ssh2", ssh(made.SecurityGroup.id), made.SecurityGroupRule],
              ["Vm", "web-z", { ...vm, adopt: made.Vm.id }, made.Vm],
              ["Volume", "data2", { name: "data", size: 5, adopt: made.Volume.id }, made.Volume],
              [
                "SecurityGroup",
                "group2",
                { name: "web-group", rulesMode: "shared", adopt: made.SecurityGroup.id },
                made.SecurityGroup,
              ],
            ] as const;
            for (const [type, name, inputs, old] of taken) {
              if (isPreviewed)
                expect((await stage.startProcess().preview(type, name, inputs)).join("\n")).toMatch(
                  /which stays; aliases|it stays; aliases/,
                );
              const next = await p.create(type, name, inputs);
              expect(next.id).toBe(old.id);
              stage.log.length = 0;
              await d.remove(old);
              expect(stage.log.join("\n")).toMatch(new RegExp(`stays: another resource .*${name}.*aliases`));
            }
            expect(stage.volumes()).toMatchObject([{ attached_to: made.Vm.id }]);
            expect([stage.vms().length, stage.groups().length, stage.rules().length]).toEqual([1, 1, 1]);
          },
        );

        it("the take-over was cut off, and only the old one is deleted by the next run", async () => {
          stage = await start(full);
          const made = await makeAll(stage);
          await stage.startProcess().create("Vm", "web-z", { ...vm, adopt: made.Vm.id });
          await stage.startProcess().remove(made.Vm);
          expect(stage.vms()).toHaveLength(1);
        });

        it("who took something over deletes it, and then nothing is remembered", async () => {
          stage = await start(full);
          const made = await makeAll(stage);
          const attachment = { vmId: made.Vm.id, volumeId: made.Volume.id, flushConfirmed: true };
          const next = await stage.startProcess().create("VolumeAttachment", "att2", attachment);
          await stage.startProcess().remove(made.VolumeAttachment);
          await stage.startProcess().remove(next);
          expect(stage.volumes()).toMatchObject([{ attached_to: null }]);
          expect(stage.notes("owners")).toEqual([]);
        });

        it("an adoption that is done may leave the program, which is no change; another id is refused", async () => {
          stage = await start(full);
          const made = await makeAll(stage);
          const wishes = [
            ["Vm", "web-z", vm, made.Vm],
            ["Volume", "data2", { name: "data", size: 5 }, made.Volume],
            ["SecurityGroup", "group2", { name: "web-group", rulesMode: "shared" }, made.SecurityGroup],
          ] as const;
          for (const [type, name, inputs, { id }] of wishes) {
            const taken = await stage.startProcess().create(type, name, { ...inputs, adopt: id });
            const next = stage.startProcess();
            const changesOf = async (props: Props) => (await next.diff(taken, props)).changes;
            expect(await changesOf({ ...inputs, adopt: id })).toEqual([]);
            expect(await changesOf(inputs)).toEqual([]);
            expect(await changesOf({ ...inputs, adopt: "none" })).toEqual([]);
            await expect(changesOf({ ...inputs, adopt: "another" })).rejects.toThrow(
              /another one, which is not taken over/,
            );
          }
        });

        it("an adoption that is refused takes nothing over", async () => {
          stage = await start(full);
          const made = await makeAll(stage);
          const wrong = { name: "data", size: 3, adopt: made.Volume.id };
          await expect(stage.startProcess().create("Volume", "data2", wrong)).rejects.toThrow();
          await stage.startProcess().remove({ ...made.VolumeAttachment });
          await stage.startProcess().remove(made.Volume);
          expect(stage.volumes()).toEqual([]);
        });
      });

      describe("what one process deletes and makes again", () => {
        it("and what hangs on it has its former id from the engine, since no target names it: it is made on the new one", async () => {
          stage = await start(full);
          const made = await makeAll(stage);
          const next = stage.startProcess();
          const attachment = { vmId: made.Vm.id, volumeId: made.Volume.id, flushConfirmed: true };
          for (const one of [made.VolumeAttachment, made.SecurityGroupRule, made.Vm, made.SecurityGroup])
            await next.remove(one);
          const host = await next.create("Vm", "web-a", vm);
          const group = await next.create("SecurityGroup", "web-group", { name: "web-group", rulesMode: "shared" });
          const attached = await next.create("VolumeAttachment", "att", attachment);
          const rule = await next.create("SecurityGroupRule", "ssh", ssh(made.SecurityGroup.id));
          expect(stage.volumes()).toMatchObject([{ attached_to: host.id }]);
          expect([attached.id.split("/")[0], rule.id.split("/")[0]]).toEqual([host.id, group.id]);
          expect(stage.log.filter((line) => line.includes("whose targets leave out"))).toHaveLength(2);
          // The engine has kept the inputs with the former ids.
          const kept = (one: KeptOne, inputs: Props): KeptOne => ({ ...one, outputs: { ...one.outputs, ...inputs } });
          const later = stage.startProcess();
          for (const [one, inputs] of [
            [kept(attached, attachment), { ...attachment, vmId: host.id }],
            [kept(rule, ssh(made.SecurityGroup.id)), ssh(group.id)],
          ] as const) {
            expect((await later.diff(one, inputs)).changes).toEqual([]);
            expect((await later.read(one))?.inputs).toMatchObject(inputs);
          }
        });

        it.each(services)("an attachment that goes first is attached again, %s", async (_, given) => {
          stage = await start(given);
          const made = await makeAll(stage);
          const inputs = { vmId: made.Vm.id, volumeId: made.Volume.id, flushConfirmed: true };
          const { create, remove, diff } = stage.startProcess();
          // As the engine does: others are made meanwhile, so that lists were read a moment ago.
          await diff(made.VolumeAttachment, inputs);
          await create("Volume", "other", { name: "other", size: 5 });
          await remove(made.VolumeAttachment);
          await create("VolumeAttachment", "att", inputs);
          expect(stage.volumes().find(({ id }) => id === made.Volume.id)?.attached_to).toBe(made.Vm.id);
        });
      });
    }),
    rulesThatMove: tell(() => {
      describe.each(services)("a rule that moves, %s", (_, given) => {
        const inputsOf = (...rules: readonly Props[]): Props => ({ name: "web-group", rulesMode: "shared", rules });
        const { securityGroupId: _none, ...inline } = ssh("");

        it.each(["the same process", "the next one"])(
          "into its group outlives the delete of its own resource in %s",
          async (where) => {
            stage = await start(given);
            const { SecurityGroup, SecurityGroupRule } = await makeAll(stage);
            const first = stage.startProcess();
            const group = await first.update(SecurityGroup, inputsOf(inline));
            await (where === "the next one" ? stage.startProcess() : first).remove(SecurityGroupRule);
            expect(stage.rules()).toHaveLength(1);
            expect(stage.log.join("\n")).toMatch(/rule .* stays: another resource of this program manages it by now/);
            expect((await stage.startProcess().diff(group, inputsOf(inline))).changes).toEqual([]);
            // The group's own by now: it goes with the line that says it.
            if (given === full) {
              await stage.startProcess().update(group, inputsOf());
              expect(stage.rules()).toEqual([]);
            }
          },
        );

        it("out of its group at once is closed for a moment, which its preview and its update say with the way around", async () => {
          stage = await start(full);
          const group = await stage.startProcess().create("SecurityGroup", "web-group", inputsOf(inline));
          const next = stage.startProcess();
          await next.diff(group, inputsOf());
          const told = /removes this rule.* added again.*leave it among the rules of the group for one update/;
          expect((await next.preview("SecurityGroupRule", "ssh", ssh(group.id))).join()).toMatch(told);
          const without = await next.update(group, inputsOf());
          await next.create("SecurityGroupRule", "ssh", ssh(group.id));
          expect(stage.log.join("\n")).toMatch(told);
          expect(stage.rules()).toHaveLength(1);
          // The way around: both name it first.
          const both = stage.startProcess();
          await both.diff(without, inputsOf(inline));
          expect((await both.preview("SecurityGroupRule", "ssh2", ssh(group.id))).join()).toMatch(/is managed here/);
        });

        it("out of its group, where its own resource has taken it over before, stays as well", async () => {
          stage = await start(given);
          const first = stage.startProcess();
          const group = await first.create("SecurityGroup", "web-group", inputsOf(inline));
          const rule = await first.create("SecurityGroupRule", "ssh", ssh(group.id));
          const next = stage.startProcess();
          const without = await next.update(group, inputsOf());
          expect(stage.rules()).toHaveLength(1);
          expect((await stage.startProcess().diff(without, inputsOf())).changes).toEqual([]);
          expect((await stage.startProcess().read(rule))?.id).toBe(rule.id);
        });
      });
    }),
    /** Two processes that live at the same time: notes of theirs are in files. */
    atOnce: tell(() => {
      it.each([
        ["Volume", { name: "data", size: 5 }],
        ["Vm", vm],
        ["SecurityGroup", { name: "web-group", rules: [] }],
      ] as const)("while another update of the stack makes the same: %s", async (type, inputs: Props) => {
        for (const [, given] of services) {
          stage = await start(given);
          const both = [process.pid, process.ppid].map((pid) => stage.startProcess({ pid }));
          const [one, other] = await Promise.all(both.map(({ create }) => create(type, "it", inputs)));
          expect(other?.id).toBe(one?.id);
          expect([...stage.vms(), ...stage.volumes(), ...stage.groups()]).toHaveLength(1);
          await stage.close();
        }
        stage = await start(builtIn);
      });
    }),
  };
}
