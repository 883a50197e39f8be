/** The small decisions of the model, as tables: what a fix says, what is owed, which name fits, which disk is left. */
import { describe, expect, it } from "vitest";
import { compareAddresses } from "../../reconciler/core/model/address";
import {
  type Computed,
  computedIn,
  computedWithin,
  fillText,
  shownText,
  type Text,
  textKey,
} from "../../reconciler/core/model/computed";
import { disksOf, inOrder, maybeRoot, type OwnDisks, orphanedDisk, tellDisks } from "../../reconciler/core/model/disks";
import {
  type Advice,
  adviceInProgram,
  adviceText,
  type Command,
  fixText,
  toAsk,
  told,
  toRun,
  toSay,
  toWrite,
} from "../../reconciler/core/model/fix";
import { type Debt, debtOf, debtsIn, dutiesOf, isSameCommand, withDebt } from "../../reconciler/core/model/guest";
import {
  failedState,
  groupByName,
  type Live,
  type LiveOf,
  namedIn,
  notSeen,
  type Sighting,
  seenByKind,
  shownOf,
  sight,
} from "../../reconciler/core/model/live";
import { rootDiskLoss, volumeLabel, volumeLoss } from "../../reconciler/core/model/loss";
import type { NameRule } from "../../reconciler/core/model/name-rule";
import { computedInShaped, fillShaped, jsonOf, type Shaped } from "../../reconciler/core/model/output";
import { type Intent, isAskedSnapshot, movedIntent, recordedAt } from "../../reconciler/core/model/recorded";
import { nameProblemBy } from "../../reconciler/dialect/name-problem";
import { seenOfKind } from "../support/virtual-world";

describe("what to do, for the command line and for a program", () => {
  const anew = "run the same update again";
  it.each<[command: Command, program: string | undefined]>([
    [["import", "vm.a", "ID"], 'adopt: "<its id>"'],
    [["import", "vm.a", "17"], 'adopt: "17"'],
    [["state rm", "vm.a"], "pulumi state delete with its URN"],
    [["apply", "--accept-service"], anew],
    [["orphans delete", "17"], anew],
    [["state mv", "vm.a", "vm.b"], undefined],
    [["state resolve", "vm.a", "--paid"], undefined],
    [["orphans list"], undefined],
    [["owe", "vm.a"], undefined],
    [["init"], undefined],
    [["doctor"], undefined],
  ])("%j", (command, program) => {
    expect(adviceText([toRun(command)])).toBe(`reconcile ${command.join(" ")}`);
    expect(adviceInProgram([toRun(command)])).toBe(program);
    expect(adviceText([toRun(command, "it is there")])).toBe(`reconcile ${command.join(" ")} (it is there)`);
    expect(adviceInProgram([toRun(command, "it is there")])).toBe(program && `${program} (it is there)`);
  });
  it.each<[what: string, advice: Advice, text: string, program: string | undefined]>([
    ["a sentence", "another name", "another name", "another name"],
    ["a line of a file", [toWrite("moved: []")], "moved: []", undefined],
    ["a line of a file with its reason", [toWrite("moved: []", "keeps it")], "moved: []   keeps it", undefined],
    [
      "a sentence with a command",
      [toSay(["run ", ["init"], " first"], "log in")],
      "run reconcile init first",
      "log in",
    ],
    [
      "a sentence that says nothing to a program",
      [toSay(["run ", ["init"]], undefined)],
      "run reconcile init",
      undefined,
    ],
    [
      "a choice",
      [toAsk("another name"), toRun(["init"]), toRun(["state rm", "vm.a"])],
      "another name, or reconcile init, or reconcile state rm vm.a",
      "another name, or pulumi state delete with its URN",
    ],
  ])("%s", (_, advice, text, program) => {
    expect(adviceText(advice)).toBe(text);
    expect(adviceInProgram(advice)).toBe(program);
    expect(told(advice)).toEqual(typeof advice === "string" ? { fix: text } : { fix: text, fixParts: advice });
  });
  it("nothing to do is told as nothing", () => {
    expect(told(undefined)).toEqual({ fix: undefined });
    expect(fixText()).toBe("");
  });
});

describe("a command that is owed", () => {
  const debt = (command: Debt["command"], reason: Debt["reason"], since = "1"): Debt => ({ command, reason, since });
  it.each<[what: string, before: readonly Debt[], added: Debt, after: readonly Debt[]]>([
    ["is the first", [], debt("after_ready", "asked"), [debt("after_ready", "asked")]],
    [
      "is in the order in which a VM gets them",
      [debt("after_attach", "attached")],
      debt("after_ready", "created"),
      [debt("after_ready", "created"), debt("after_attach", "attached")],
    ],
    [
      "is owed since the first time, for the stronger reason",
      [debt("after_ready", "created"), debt("after_attach", "attached", "1")],
      debt("after_attach", "created", "2"),
      [debt("after_ready", "created"), debt("after_attach", "created", "1")],
    ],
    [
      "is owed as before for a weaker reason",
      [debt("after_attach", "created", "1")],
      debt("after_attach", "attached_again", "2"),
      [debt("after_attach", "created", "1")],
    ],
    [
      "is owed as before for the same reason",
      [debt("after_attach", "attached", "1")],
      debt("after_attach", "attached", "2"),
      [debt("after_attach", "attached", "1")],
    ],
  ])("%s", (_, before, added, after) => expect(withDebt(before, added)).toEqual(after));

  it("is read from a record that may have none", () => {
    const owes = [debt("after_attach", "attached")];
    expect([debtsIn(undefined), debtsIn({}), debtsIn({ owes })]).toEqual([[], [], owes]);
    expect([debtOf({ owes }, "after_attach"), debtOf({ owes }, "after_ready")]).toEqual([owes[0], undefined]);
  });

  const command = { argv: ["mount"], timeoutMs: 1 };
  it.each<[what: string, other: object, isSame: boolean]>([
    ["another time limit", { timeoutMs: 2 }, true],
    ["when it is owed again", { again: "when_changed" }, true],
    ["an empty environment", { env: [] }, true],
    ["other words", { argv: ["umount"] }, false],
    ["a variable", { env: [{ name: "A", value: "1" }] }, false],
  ])("is the same with %s: %s", (_, other, isSame) =>
    expect(isSameCommand(command, { ...command, ...other })).toBe(isSame),
  );
  it("is declared under its key", () => {
    expect(dutiesOf({})).toEqual([]);
    expect(dutiesOf({ afterAttach: command, afterReady: command })).toEqual(["after_ready", "after_attach"]);
    expect(dutiesOf({ afterAttach: command })).toEqual(["after_attach"]);
  });
});

describe("a name that a service takes", () => {
  it.each<[what: string, name: string, rule: NameRule | undefined, problem: string | undefined]>([
    ["no rule", "any name", undefined, undefined],
    ["an empty rule", "any name", {}, undefined],
    ["as long as may be", "abc", { longest: 3 }, undefined],
    ["too long", "abcd", { longest: 3 }, "has 4 characters, and at most 3 fit"],
    ["as short as may be", "abc", { shortest: 3 }, undefined],
    ["too short", "ab", { shortest: 3 }, "has 2 characters, and at least 3 are needed"],
    ["one that fits", "abc", { pattern: "[a-c]+" }, undefined],
    ["one of which only a part fits", "abcd", { pattern: "[a-c]+" }, "does not fit [a-c]+"],
    ["one of which only its end fits", "dabc", { pattern: "d|abc" }, "does not fit d|abc"],
    [
      "one that does not fit, in words",
      "A",
      { pattern: "a", says: "is in small letters" },
      "does not fit: a name is in small letters",
    ],
    [
      "one that a pattern never comes to an end on",
      `${"a".repeat(40)}-`,
      { pattern: "(a+)+" },
      "cannot be compared with (a+)+: it was not decided within 1 s",
    ],
  ])("%s", (_, name, rule, problem) =>
    expect(nameProblemBy(rule === undefined ? {} : { vm: rule })("vm", name)).toBe(problem),
  );
});

describe("the disks of a VM", () => {
  const isManaged = (id: string): boolean => id.startsWith("managed");
  it.each<[what: string, shown: Parameters<typeof tellDisks>[0], own: OwnDisks]>([
    ["none are shown", [], {}],
    ["only its root disk", [{ id: "r", root: true }], {}],
    [
      "one beside the root disk is its data volume",
      [
        { id: "r", root: true },
        { id: "d", root: false },
      ],
      { dataVolumeId: "d" },
    ],
    [
      "one beside what other addresses manage",
      [
        { id: "managed", root: false },
        { id: "d", root: false },
      ],
      { dataVolumeId: "d" },
    ],
    [
      "one of which nobody says whether it is the root disk, beside one that says so",
      [{ id: "r", root: true }, { id: "d" }],
      { dataVolumeId: "d" },
    ],
    ["one alone, where nobody says which is the root disk", [{ id: "d" }], { disks: [{ id: "d", maybeRoot: true }] }],
    [
      "several, in the order of their ids",
      [
        { id: "e", root: false },
        { id: "d", root: false },
        { id: "r", root: true },
      ],
      { disks: [{ id: "d" }, { id: "e" }] },
    ],
    ["all are managed", [{ id: "managed" }], {}],
  ])("%s", (_, shown, own) => expect(tellDisks(shown, isManaged)).toEqual(own));

  it("are in the order of their ids", () =>
    expect(inOrder([{ id: "b" }, { id: "a" }, { id: "c" }, { id: "a", name: "2" }])).toEqual([
      { id: "a" },
      { id: "a", name: "2" },
      { id: "b" },
      { id: "c" },
    ]));
  it.each<[what: string, record: Parameters<typeof disksOf>[0], disks: readonly object[]]>([
    ["none are known", {}, []],
    ["its data volume has the size of the VM", { dataVolumeId: "d", sizeGb: 20 }, [{ id: "d", sizeGb: 20 }]],
    [
      "its data volume is once, beside others",
      { dataVolumeId: "d", disks: [{ id: "d" }, { id: "e" }] },
      [{ id: "d" }, { id: "e" }],
    ],
    ["others alone", { sizeGb: 20, disks: [{ id: "e" }] }, [{ id: "e" }]],
  ])("when it is gone: %s", (_, record, disks) => expect(disksOf(record)).toEqual(disks));
  it("are orphans, and one that may be the root disk goes by itself", () => {
    expect(maybeRoot(undefined)).toEqual({ maybeRoot: true });
    expect([maybeRoot(true), maybeRoot(false)]).toEqual([{}, {}]);
    const orphan = { kind: "volume", id: "d", name: "web-data", sizeGb: 5 };
    expect(orphanedDisk({ id: "d", sizeGb: 5 }, "web", "web-data")).toEqual({ ...orphan, reason: "outlived VM web" });
    expect(orphanedDisk({ id: "d", sizeGb: 5, maybeRoot: true }, "web", "web-data")).toEqual({
      ...orphan,
      reason: "outlived VM web, or was its root disk",
      deleting: true,
    });
  });
  it("are named where they are lost", () => {
    const wiped = rootDiskLoss({ id: "1", name: "web" }, "is wiped by the rebuild");
    expect(wiped).toEqual({ disk: "root", id: "1", detail: "the root disk of VM web (1) is wiped by the rebuild" });
    expect(rootDiskLoss({ name: "web", sizeGb: 5 }, "is deleted with it").detail).toBe(
      "the root disk of 5 GB of VM web is deleted with it",
    );
    expect(volumeLoss({ id: "d", sizeGb: 5 }, "gone")).toEqual({ disk: "volume", id: "d", sizeGb: 5, detail: "gone" });
    expect(
      [{ id: "d", name: "data", sizeGb: 5 }, { id: "d" }, { id: "d", name: "d" }, { name: "n" }, {}].map(volumeLabel),
    ).toEqual(["data (d) of 5 GB", "d", "d", "n", ""]);
  });
});

describe("text with values that only the service knows", () => {
  const ip: Computed = { address: "vm.a", attribute: "private_ip" };
  const id: Computed = { address: "vm.b", attribute: "id" };
  const late: Computed = { ...ip, late: true };
  const open = (...parts: (string | Computed)[]): Text => ({ parts });
  const knows = (known: Computed, as: string | Computed) => (one: Computed) => (one === known ? as : one);
  it.each<[what: string, text: Text, value: ReturnType<typeof knows>, filled: Text]>([
    ["plain text is as it is", "x", knows(ip, "1"), "x"],
    ["what is known joins the text before and after it", open("a ", ip, " b"), knows(ip, "1"), "a 1 b"],
    ["what is not known stays open", open("a ", ip, " b ", id), knows(ip, "1"), open("a 1 b ", id)],
    ["what is open in another way stays open", open("a ", ip), knows(ip, late), open("a ", late)],
    ["an open value alone", open(ip), knows(ip, late), open(late)],
    ["no part at all", open(), knows(ip, "1"), ""],
    ["two that are known", open(ip, ip), knows(ip, "1"), "11"],
  ])("%s", (_, text, value, filled) => expect(fillText(text, value)).toEqual(filled));
  it.each<[text: Text | undefined, values: readonly Computed[]]>([
    [undefined, []],
    ["x", []],
    [open("a", ip, id), [ip, id]],
  ])("holds values: %j", (text, values) => expect(computedIn(text)).toEqual(values));
  it.each<[what: string, value: unknown, values: readonly Computed[]]>([
    ["a text", "x", []],
    ["nothing", null, []],
    ["a rule with a text in it", { rules: [{ remote: open(ip) }, { description: "x" }] }, [ip]],
  ])("holds values within %s", (_, value, values) => expect(computedWithin(value)).toEqual(values));
  it.each<[text: Text, key: string, shown: string]>([
    ["x", "x", "x"],
    [open("a ", ip), "a ${vm.a.private_ip}", "a vm.a.private_ip (known once vm.a is created)"],
    [open(late), "${vm.a.private_ip}", "vm.a.private_ip (known once vm.a shows it)"],
    [
      open(ip, "/", id, "/", ip),
      "${vm.a.private_ip}/${vm.b.id}/${vm.a.private_ip}",
      "vm.a.private_ip/vm.b.id/vm.a.private_ip (known once vm.a is created and vm.b is created)",
    ],
    [open("x"), "x", "x"],
  ])("is compared and shown: %j", (text, key, shown) => expect([textKey(text), shownText(text)]).toEqual([key, shown]));

  const size: Computed = { address: "volume.a", attribute: "size" };
  const text = (of: Text): Shaped => ({ is: "text", text: of });
  it.each<[what: string, shaped: Shaped, filled: Shaped, json: unknown]>([
    ["a number", { is: "plain", value: 1 }, { is: "plain", value: 1 }, 1],
    ["plain text", text("7"), text("7"), "7"],
    ["a size alone is a number", text(open(size)), { is: "plain", value: 7 }, 7],
    ["a size among words is text", text(open("of ", size)), text("of 7"), "of 7"],
    ["two sizes are text", text(open(size, size)), text("77"), "77"],
    ["a size in front of words is text", text(open(size, " GB")), text("7 GB"), "7 GB"],
    ["another value alone is text, also where it is a number", text(open(id)), text("7"), "7"],
    ["what stays open", text(open(ip)), text(open(ip)), "vm.a.private_ip (known once vm.a is created)"],
    ["a list", { is: "list", items: [text(open(size))] }, { is: "list", items: [{ is: "plain", value: 7 }] }, [7]],
    ["a map", { is: "map", entries: { a: text(open(id)) } }, { is: "map", entries: { a: text("7") } }, { a: "7" }],
  ])("as an output: %s", (_, shaped, filled, json) => {
    const got = fillShaped(shaped, (one) => (one === ip ? one : "7"));
    expect(got).toEqual(filled);
    expect(jsonOf(got)).toEqual(json);
  });
  it("a size that is no whole number stays text", () =>
    expect(fillShaped(text(open(size)), () => "7.5")).toEqual(text("7.5")));
  it("holds values in every shape", () => {
    const shaped: Shaped = {
      is: "map",
      entries: { a: { is: "list", items: [text(open(ip)), { is: "plain", value: 1 }] }, b: text(open(id)) },
    };
    expect(computedInShaped(shaped)).toEqual([ip, id]);
  });
});

describe("what was seen", () => {
  const vm = (id: string, name: string, more: Partial<LiveOf["vm"]> = {}): LiveOf["vm"] => ({
    ...{ kind: "vm", id, name, phase: "running", status: "ACTIVE" },
    ...more,
  });
  const group = (id: string, name: string): LiveOf["group"] => ({ kind: "group", id, name });
  const yes = <T>(value: T) => ({ seen: "yes", value }) as const;
  const no: Sighting<never> = { seen: "unobserved", reason: "it was not looked at" };
  const look = (listed: boolean): Live => ({
    ...notSeen,
    of: {
      vm: seenOfKind(
        listed,
        new Map<string, Sighting<LiveOf["vm"]>>([
          ["1", yes(vm("1", "Web"))],
          ["2", no],
        ]),
      ),
      volume: seenOfKind(
        listed,
        new Map([["v", yes({ kind: "volume", id: "v", name: "Web", failed: false } as const)]]),
      ),
      group: seenOfKind(listed, new Map([["g", yes(group("g", "Web"))]])),
    },
  });
  it("counts what was looked for and not found as nothing", () => {
    expect(shownOf(look(true), "vm").map(({ id }) => id)).toEqual(["1"]);
    expect([...seenByKind(look(true)).vm.keys()]).toEqual(["1"]);
    expect(sight(look(false), "vm", "2")).toEqual(no);
    expect(sight(look(false), "vm", "3")).toEqual(look(false).of.vm.unlisted);
  });
  it("is found by its name in any letters where all were listed, and for what goes by its name also where they were read one by one", () => {
    const names = (listed: boolean) =>
      Object.fromEntries(Object.entries(namedIn(look(listed))).map(([kind, by]) => [kind, [...by.keys()]]));
    expect(names(true)).toEqual({ vm: ["web"], volume: ["web"], group: ["web"] });
    expect(names(false)).toEqual({ vm: ["web"], volume: [], group: [] });
  });
  it("is together with what has the same name, and nothing without a name", () =>
    expect(
      [...groupByName([vm("1", "Web"), vm("2", "web"), { name: undefined }])].map(([name, all]) => [name, all.length]),
    ).toEqual([["web", 2]]));
  it.each<[what: string, live: LiveOf[keyof LiveOf], word: string | undefined]>([
    ["a VM that runs", vm("1", "x"), undefined],
    ["a VM that failed", vm("1", "x", { phase: "failed", status: "ERROR" }), "ERROR"],
    ["a volume that is well", { kind: "volume", id: "v", failed: false, status: "available" }, undefined],
    ["a volume that failed", { kind: "volume", id: "v", failed: true, status: "error" }, "error"],
    ["a volume whose state has no word", { kind: "volume", id: "v", failed: true, status: undefined }, "failed"],
    ["a group, which cannot fail", group("g", "x"), undefined],
  ])("%s: its word for a failure", (_, live, word) => expect(failedState(live)).toBe(word));
});

describe("in order", () => {
  it.each<[what: string, addresses: readonly string[]]>([
    ["groups, VMs, volumes", ["group.z", "vm.y", "volume.x"]],
    ["numbers by their size", ["vm.a2", "vm.a10", "vm.a10b", "vm.a11"]],
    [
      "numbers with zeros in front by their size, and those with more of them first or last by text",
      ["vm.a9", "vm.a010", "vm.a10", "vm.a011"],
    ],
    ["what is shorter first", ["vm.a", "vm.a1", "vm.ab"]],
    ["what is in no component first, and each component together", ["volume.z", "a/group.b", "a/vm.a", "b/group.a"]],
    ["components by their numbers", ["web[2]/vm.a", "web[10]/vm.a"]],
  ])("%s", (_, addresses) => {
    expect([...addresses].reverse().sort(compareAddresses)).toEqual(addresses);
    expect([...addresses].sort(compareAddresses)).toEqual(addresses);
  });
  it("an address is where it is", () => expect(compareAddresses("vm.a", "vm.a")).toBe(0));
});

describe("a record of what is open", () => {
  const intent: Intent = {
    ...{ step: "vm.a/snapshot", address: "vm.a", operation: "vm.snapshot", name: "n", sentAt: "1" },
    idsBefore: [],
  };
  it.each<[what: string, one: Intent, isAsked: boolean]>([
    ["a snapshot that a person asked for", intent, true],
    ["a snapshot before a change", { ...intent, step: "vm.a/snapshot-before" }, false],
    ["a create", { ...intent, operation: "vm.create" }, false],
  ])("%s: %s", (_, one, isAsked) => expect(isAskedSnapshot(one)).toBe(isAsked));
  it("moves with its resource, with the record it is to make where it has one", () => {
    const made = {
      kind: "volume",
      address: "volume.a",
      name: "n",
      sizeGb: 1,
      flush: { via: "ask" },
      preventDestroy: false,
    } as const;
    expect(movedIntent(intent, "vm.b")).toEqual({ ...intent, address: "vm.b" });
    expect("record" in movedIntent(intent, "vm.b")).toBe(false);
    expect(movedIntent({ ...intent, record: made }, "volume.b").record).toEqual({ ...made, address: "volume.b" });
  });
  it("that something is missing is written down with the time of the run", () => {
    const orphan = { kind: "vm", id: "1", name: "n", reason: "r" } as const;
    const kept = { type: "orphan", key: "vm:1", orphan } as const;
    expect(recordedAt([kept, { type: "missing", orphan }], "now")).toEqual([
      kept,
      { type: "orphan", key: "vm:1", orphan: { ...orphan, missingSince: "now" } },
    ]);
  });
});
