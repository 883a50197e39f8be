import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { payloadOf } from "../../reconciler/dialect/answers";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect, RecordPlace } from "../../reconciler/dialect/dialect";
import { learnRefusal } from "../../reconciler/dialect/learn/envelope";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import { findAt } from "../../reconciler/dialect/pointers";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { createRecordReaders } from "../../reconciler/dialect/records";
import { readDeletedVm, readImportReport } from "../../reconciler/dialect/reports";
import { readLiveRule } from "../../reconciler/dialect/rule-record";

const read = createRecordReaders(builtInDialect);
const value = (reading: { status: string; value?: unknown }): unknown => {
  expect(reading.status).toBe("accepted");
  return reading.value;
};

describe("a VM", () => {
  const vm = { kind: "vm", id: "1", name: "web", phase: "changing" };
  const cases: Record<string, [object, object]> = {
    "an id may be a number": [{ id: 1, name: "web" }, vm],
    "a field that is not there is unobserved": [{ id: "1", name: "web" }, vm],
    "a known state has its phase": [
      { id: "1", name: "web", status: "SHUTOFF" },
      { ...vm, status: "SHUTOFF", phase: "stopped" },
    ],
    "States: VERIFY_RESIZE": [
      { id: "1", name: "web", state: "VERIFY_RESIZE" },
      { ...vm, status: "VERIFY_RESIZE", phase: "verify_resize" },
    ],
    "an unknown state is shown and counts as in transition": [
      { id: "1", name: "web", status: "PAUSED?" },
      { ...vm, status: "PAUSED?" },
    ],
    "an object where a text is looked for is passed over": [
      { id: "1", name: "web", flavor: { name: "m1" } },
      { ...vm, flavor: "m1" },
    ],
    "volumes as ids": [
      { id: "1", name: "web", volumes: ["a", 2] },
      { ...vm, volumes: [{ id: "a" }, { id: "2" }] },
    ],
    "volumes as records, with the root disk": [
      {
        id: "1",
        name: "web",
        volumes: [
          { id: "a", bootable: "true" },
          { volume_id: "b", root: false },
        ],
      },
      {
        ...vm,
        volumes: [
          { id: "a", root: true },
          { id: "b", root: false },
        ],
      },
    ],
    "volumes that are null are none": [
      { id: "1", name: "web", volumes: null },
      { ...vm, volumes: [] },
    ],
    "a null name is an empty one": [
      { id: "1", name: null },
      { ...vm, name: "" },
    ],
    "a name of spaces is an empty one": [
      { id: "1", name: "  " },
      { ...vm, name: "" },
    ],
  };
  for (const [title, [record, expected]] of Object.entries(cases))
    test(title, () => expect(value(read.vm(record))).toEqual(expected));

  test("without an id it is unreadable, and the hint holds pointers, keys and the line that would fix it", () => {
    expect(read.vm({ VmId: "x", name: "web", width: 3 })).toEqual({
      status: "rejected",
      condition: "unreadable",
      message: "the record of a VM shows no id where it is looked for",
      hint: 'tried "/id", "/vm_id", "/instance_id", "/uuid", "/vm/id"; found the keys VmId, name, width; in the dialect: records.vm.id: [/VmId]',
    });
  });

  test("no key is suggested when none is likely", () => {
    expect(read.vm({ width: 1, ip: "10.0.0.1" })).toMatchObject({
      hint: expect.stringContaining("records.vm.id: [/…]"),
    });
  });
});

describe("a volume", () => {
  const volume = { kind: "volume", id: "1", failed: false };
  const cases: Record<string, [object, object]> = {
    "its size may be text": [
      { id: "1", size: "20" },
      { ...volume, sizeGb: 20 },
    ],
    "its size may have a unit": [
      { id: "1", size: "20 GB" },
      { ...volume, sizeGb: 20 },
    ],
    "a null attachment is none": [
      { id: "1", attached_to: null },
      { ...volume, attachedTo: null },
    ],
    "an empty attachment is none": [
      { id: "1", vm_id: "" },
      { ...volume, attachedTo: null },
    ],
    "an empty list of attachments is none": [
      { id: "1", attachments: [] },
      { ...volume, attachedTo: null },
    ],
    "attached to the first of the list": [
      { id: "1", attached_to: null, attachments: [{ vm_id: 7 }] },
      { ...volume, attachedTo: "7" },
    ],
    "no attachment shown is unobserved": [{ id: "1" }, volume],
    "an empty name is not shown": [{ id: "1", name: " " }, volume],
    "a failed state": [
      { id: "1", status: "error", name: "d" },
      { ...volume, status: "error", name: "d", failed: true },
    ],
  };
  for (const [title, [record, expected]] of Object.entries(cases))
    test(title, () => expect(value(read.volume(record))).toEqual(expected));

  test("a size that is no number is unreadable, since growing hangs on it", () => {
    expect(read.volume({ id: "1", size: "big" })).toMatchObject({
      condition: "unreadable",
      hint: expect.stringContaining("records.volume.size"),
    });
  });
});

describe("states of a volume", () => {
  const changing = (status: string, states = builtInDialect.states.volume): boolean => {
    const dialect: Dialect = { ...builtInDialect, states: { ...builtInDialect.states, volume: states } };
    const reading = createRecordReaders(dialect).volume({ id: "1", status });
    return reading.status === "accepted" && reading.value.changing === true;
  };
  test("built in, the usual words are on the way, and an unknown word is data", () => {
    for (const word of ["creating", "ATTACHING", "detaching", "extending", "deleting"])
      expect(changing(word)).toBe(true);
    for (const word of ["available", "in-use", "error", "deleted", "on holiday"]) expect(changing(word)).toBe(false);
  });
  test("once a dialect names what is ready, every other word is on the way", () => {
    const states = { ...builtInDialect.states.volume, ready: ["OK"] };
    expect(["OK", "error", "deleted", "WARMING"].map((word) => changing(word, states))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});

describe("a group", () => {
  test("with its rules", () => {
    const record = {
      security_group_id: "g",
      name: "web",
      description: null,
      rules: [{ id: "r", direction: "egress" }],
    };
    expect(value(read.group(record))).toEqual({
      kind: "group",
      id: "g",
      name: "web",
      description: "",
      rules: [{ id: "r", direction: "egress" }],
    });
  });
  test("rules that are not shown are unobserved, and so is what only looks like them", () => {
    expect(value(read.group({ id: "g" }))).toEqual({ kind: "group", id: "g" });
    const record = { id: "g", rules: [{ direction: "in", port: "443", sources: ["0.0.0.0/0"] }] };
    expect(value(read.group(record))).toEqual({ kind: "group", id: "g" });
    const said = createRecordReaders(mergeDialect({ records: { group: { rules: "/rules" } } }));
    expect(said.group(record)).toMatchObject({ status: "rejected", condition: "unreadable" });
  });
});

describe("a rule", () => {
  test("Security group rule as returned: every field", () => {
    expect(
      value(
        readLiveRule({
          id: "r",
          security_group_id: "g",
          project_id: "p",
          name: null,
          direction: "ingress",
          protocol: "tcp",
          port_range_min: 80,
          port_range_max: "80",
          ether_type: "IPv6",
          remote_ip_prefix: "::/0",
          normalized_cidr: "::/0",
          remote_group_id: null,
          remote_address_group_id: "a",
          belongs_to_default_sg: true,
          revision_number: 0,
          description: "d",
          created_at: "2030",
        }),
      ),
    ).toEqual({
      id: "r",
      direction: "ingress",
      protocol: "tcp",
      portMin: 80,
      portMax: 80,
      ethertype: "IPv6",
      remoteIp: "::/0",
      remoteAddressGroupId: "a",
      platform: true,
      description: "d",
    });
  });
  test("a null list has no rules, another value is unreadable", () => {
    expect(value(read.page("group.rule.list", null, {}))).toMatchObject({ items: [] });
    expect(read.page("group.rule.list", "x", {})).toMatchObject({ condition: "unreadable" });
  });
});

describe("answers", () => {
  test.each([
    [{ data: { id: "x" } }, { id: "x" }],
    [{ data: null, error: null }, null],
    [
      { id: "x", data: "own field" },
      { id: "x", data: "own field" },
    ],
    [["a"], ["a"]],
    ["text", "text"],
    [undefined, undefined],
  ])("the payload of %j is %j", (body, payload) => expect(payloadOf(body)).toEqual(payload));

  test("a list is where the first pointer finds an array; null is an empty one", () => {
    expect(value(read.page("vm.list", [1], {}))).toMatchObject({ items: [1] });
    expect(value(read.page("vm.list", { total: 1, items: [1] }, {}))).toMatchObject({ items: [1] });
    expect(value(read.page("vm.list", null, {}))).toMatchObject({ items: [] });
    expect(read.page("vm.list", { machines: [] }, {})).toMatchObject({
      hint: expect.stringContaining("operations.vm.list.items: [/…]"),
    });
  });

  test.each([
    [{ vm_list: [{}, {}] }, 2],
    [{ answer: { vmSet: null } }, 0],
    [{ data: [{ id: "a" }] }, 1],
    [{ answer: { vmSet: "" } }, 0],
    [{ answer: { vmSet: { item: { id: "a" } } } }, 1],
    [{ answer: { vmSet: { item: [{ id: "a" }, { id: "b" }] } } }, 2],
  ])("the line that is told for the list in %j finds its items", (body, count) => {
    const elsewhere = createRecordReaders(
      mergeDialect({
        operations: { "vm.list": { method: "GET", path: "/vms", items: ["/not/here"] } },
      }),
    );
    const { hint = "" } = elsewhere.page("vm.list", body, {}) as { hint?: string };
    const [, line = ""] = /in the dialect: operations\.vm\.list\.items: (\[.*?\])(;|$)/.exec(hint) ?? [];
    const { dialect } = readDialectText(
      `operations: { vm.list: { method: GET, path: /api/v1/vm/list, items: ${line} } }`,
      "dialect.yaml",
    );
    const { items } = value(createRecordReaders(dialect).page("vm.list", body, {})) as { items: readonly unknown[] };
    expect(items).toHaveLength(count);
  });

  test("regions may be bare names", () => {
    expect(value(read.region("in-west-1"))).toEqual({ id: "in-west-1" });
    expect(value(read.region({ name: "in-west-1" }))).toEqual({ id: "in-west-1", name: "in-west-1" });
  });

  test("Delete VM response", () => {
    expect(readDeletedVm({ message: "x", preserved_volumes: ["a"] })).toEqual({ preservedVolumes: ["a"] });
    expect(readDeletedVm({ preserved_volumes: null })).toEqual({ preservedVolumes: [] });
    expect(readDeletedVm("gone")).toEqual({ preservedVolumes: undefined });
  });

  test("Security group import report", () => {
    const report = {
      imported: 1,
      failed: 1,
      groups: [
        { name: "a", id: "1", status: "created", rules_created: 2, skipped: ["pl-1"] },
        { name: "b", status: "failed", error: "x", skipped: null },
      ],
    };
    expect(value(readImportReport(report))).toEqual({
      imported: 1,
      failed: 1,
      groups: [
        { name: "a", id: "1", status: "created", rulesCreated: 2, skipped: ["pl-1"] },
        { name: "b", status: "failed", rulesCreated: 0, skipped: [], error: "x" },
      ],
    });
    expect(readImportReport({ imported: 1 })).toMatchObject({ condition: "unreadable" });
  });
});

describe("whatever the answer", () => {
  const hostile = fc.oneof(
    fc.jsonValue({ maxDepth: 6 }),
    // Records that look almost right go deeper than chance does.
    fc.record(
      {
        id: fc.jsonValue({ maxDepth: 1 }),
        name: fc.jsonValue({ maxDepth: 1 }),
        status: fc.jsonValue({ maxDepth: 1 }),
        size: fc.jsonValue({ maxDepth: 1 }),
        volumes: fc.jsonValue({ maxDepth: 3 }),
        attachments: fc.jsonValue({ maxDepth: 3 }),
        rules: fc.jsonValue({ maxDepth: 3 }),
        direction: fc.jsonValue({ maxDepth: 1 }),
        data: fc.jsonValue({ maxDepth: 3 }),
        groups: fc.jsonValue({ maxDepth: 3 }),
        page: fc.jsonValue({ maxDepth: 3 }),
      },
      { requiredKeys: [] },
    ),
  );

  test("reading never throws, and ends accepted or unreadable", () => {
    fc.assert(
      fc.property(hostile, (body) => {
        const readings = [
          ...[read.vm, read.volume, read.group, read.flavor, read.image, read.region, readLiveRule].map((each) =>
            each(payloadOf(body)),
          ),
          read.page("group.rule.list", body, {}),
          readImportReport(body),
          read.page("vm.list", body, {}),
        ];
        for (const reading of readings)
          if (reading.status === "rejected") expect(reading.condition).toBe("unreadable");
          else expect(reading.status).toBe("accepted");
        readDeletedVm(body);
        read.nextPage("vm.list", body);
        read.snapshotImage(body);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    [0, undefined],
    [-1, undefined],
    ["0", undefined],
    ["-1", undefined],
    ["null", undefined],
    ["None", undefined],
    ["false", undefined],
    [2, "2"],
    ["abc", "abc"],
  ])("what leads on from a page that says %j is %j", (next, leads) => {
    const readers = createRecordReaders(mergeDialect({ pagination: { next: "/next_page", next_header: "X-Next" } }));
    expect(readers.nextPage("vm.list", { next_page: next })).toBe(leads);
    expect(readers.nextPage("vm.list", {}, { "x-next": String(next) })).toBe(leads);
  });

  test("__proto__ in an answer is a key like any other, and reaches nothing", () => {
    const dialect: Dialect = {
      ...builtInDialect,
      records: {
        ...builtInDialect.records,
        vm: { ...builtInDialect.records.vm, id: ["/constructor/name", "/__proto__/id", "/id"] },
      },
    };
    const body = JSON.parse('{"__proto__":{"id":"sneaky","polluted":true},"name":"n"}');
    expect(createRecordReaders(dialect).vm(body)).toMatchObject({ status: "accepted", value: { id: "sneaky" } });
    expect(createRecordReaders(dialect).vm({ name: "n" })).toMatchObject({ condition: "unreadable" });
    for (const inherited of ["constructor", "__proto__", "toString"]) expect(findAt({}, [inherited])).toBeUndefined();
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("what a doctor learns of refusals", () => {
  const refusal = { status: 404, body: { code: 404, message: "no such volume" } };

  test("a message that successes have as well is told from them by another field, or not at all", () => {
    const learnt = learnRefusal(refusal, [{ code: 200, message: "ok", data: [] }]);
    expect(learnt?.envelope).toEqual({
      error: { code: [], message: ["/message"] },
      success: { value: "/code", is: 200 },
    });
    const bare = { status: 404, body: { message: "no such volume" } };
    expect(learnRefusal(bare, [{ message: "ok", data: [] }])?.envelope).toEqual({});
    expect(learnRefusal(bare, [{ data: [] }])?.envelope).toEqual({ error: { code: [], message: ["/message"] } });
    const wrapped = { status: 404, body: { itemNotFound: { message: "there is no such thing" } } };
    const inAny = { in: "/*", value: "/message" };
    expect(learnRefusal(wrapped, [])?.envelope).toEqual({ error: { code: [], message: [inAny] } });
    const reason = { status: 404, body: { kind: "Status", code: 404, reason: "NotFound", message: "no volume 1" } };
    expect(learnRefusal(reason, [])?.envelope.error?.code).toEqual(["/reason"]);
  });

  test("that a count or a time differs says nothing of how it went", () => {
    const successes = [{ took: 1, total: 1, requestId: "r-1", data: [] }];
    const body = { took: 2, total: 0, requestId: "r-2", message: "no such volume" };
    expect(learnRefusal({ status: 200, body }, successes)?.envelope.success).toBeUndefined();
    const told = learnRefusal({ status: 200, body: { ...body, result: "no" } }, [{ ...successes[0], result: "yes" }]);
    expect(told?.envelope.success).toEqual({ value: "/result", is: "yes" });
  });

  test.each([
    [500, { message: "Unknown error" }, undefined],
    [400, { message: "value not in range" }, undefined],
    [502, { message: "upstream host not found" }, undefined],
    [503, { message: "endpoint does not exist" }, undefined],
    [403, { message: "volume not found" }, { status: 403, message: "not found" }],
    [400, { code: "UnknownVolume", message: "Sorry" }, { status: 400, code: "UnknownVolume" }],
    [422, { message: "Unknown volume 7" }, { status: 422, message: "Unknown volume" }],
    [200, { success: false, message: "no such disk" }, { status: 200, message: "no such" }],
    [404, { message: "sorry" }, { status: 404 }],
  ])("of %i and %j is learnt what says that it is not there, and nothing else: %j", (status, body, rule) => {
    const learnt = learnRefusal({ status, body }, [{ success: true, data: [] }])?.errors;
    expect(learnt).toEqual(rule === undefined ? undefined : [{ is: "not_found", ...rule }]);
  });
});

describe("state words", () => {
  const readers = createRecordReaders(
    mergeDialect({
      states: {
        vm: { running: "Running", stopped: ["PoweredOff"], gone: "Purged" },
        volume: { ready: "Available", changing: [], failed: ["Broken"], gone: ["Purged"] },
        image: { ready: "Active" },
      },
    }),
  );
  const vm = (status: string) => readers.vm({ id: "1", name: "a", status });
  const volume = (status: string) => readers.volume({ id: "1", name: "a", size: 1, status });

  test.each([
    ["Running", "running"],
    ["RUNNING", "running"],
    ["running", "running"],
    ["poweredoff", "stopped"],
    // The words of the built-in dialect that this one does not take.
    ["Error", "failed"],
    ["shutoff", "changing"],
  ])("a VM that shows %s is %s, in whichever case the dialect has the word", (status, phase) => {
    expect(vm(status)).toMatchObject({ value: { status, phase } });
  });

  test("so are a volume's and an image's, and what counts as gone", () => {
    for (const status of ["available", "AVAILABLE"]) {
      expect(volume(status)).toMatchObject({ value: { failed: false } });
      expect(volume(status)).not.toMatchObject({ value: { changing: true } });
    }
    expect(volume("attaching")).toMatchObject({ value: { changing: true } });
    expect(volume("BROKEN")).toMatchObject({ value: { failed: true } });
    expect(readers.image({ id: "i", name: "i", status: "ACTIVE" })).toMatchObject({ value: { phase: "ready" } });
    for (const record of [vm("PURGED"), volume("purged")]) {
      if (record.status !== "accepted") throw new Error(record.message);
      expect(readers.goneWord(record.value)).toMatch(/purged/i);
    }
  });

  test("a word that the dialect moves to another meaning loses the built-in one in every case", () => {
    const own = createRecordReaders(mergeDialect({ states: { vm: { changing: ["Error"] } } }));
    for (const status of ["error", "ERROR", "Error"])
      expect(own.vm({ id: "1", name: "a", status })).toMatchObject({ value: { phase: "changing" } });
  });
});

describe("a list that is left out when there is nothing", () => {
  const page = (items: RecordPlace, body: unknown) =>
    createRecordReaders(
      mergeDialect({ operations: { "vm.list": { method: "GET", path: "/vms", items: [items] } } }),
    ).page("vm.list", body, {});

  test("is told with the line that says so, which reads it", () => {
    const unread = page("/answer/vms", { answer: {} });
    expect(unread).toMatchObject({ hint: expect.stringContaining("items: { in: /answer/vms, absent: none }") });
    expect(page({ in: "/answer/vms", absent: "none" }, { answer: {} })).toMatchObject({
      status: "accepted",
      value: { items: [] },
    });
  });

  test("is none beside words that refuse, and one beside those that say that all went well", () => {
    const read = (code: number, places: Parameters<typeof mergeDialect>[0]) =>
      createRecordReaders(mergeDialect(places)).page("vm.list", { code, msg: "as it is" }, {});
    const operations = {
      "vm.list": { method: "GET" as const, path: "/vms", items: ["", { in: "/data", absent: "none" as const }] },
    };
    expect(read(0, { operations })).toMatchObject({ status: "rejected" });
    const envelope = { success: { value: "/code", is: 0 } };
    expect(read(0, { operations, envelope })).toMatchObject({ value: { items: [] } });
    expect(read(7, { operations, envelope })).toMatchObject({ status: "rejected" });
  });

  test.each<[string, RecordPlace, unknown, boolean]>([
    ["a code of no success, and null", "", { code: 10500, msg: "busy", data: null }, true],
    ["a code of no success, and a list of nothing", "", { code: "E1", msg: "busy", data: [] }, true],
    ["a code of success, and null", "", { code: 0, msg: "no error", data: null }, false],
    ["another code of success", "", { errCode: "200", errMsg: "ok", data: null }, false],
    ["a code of no success beside a list", "", { code: 10500, data: [{ id: "1" }] }, false],
    ["an error around it", { in: "/R/Vms", absent: "none" }, { R: { Error: { Code: "Busy" }, RequestId: "1" } }, true],
    ["no error around it", { in: "/R/Vms", absent: "none" }, { R: { Error: null, RequestId: "1" } }, false],
    ["an empty error around it", { in: "/R/Vms", absent: "none" }, { R: { error: { code: 0, message: "" } } }, false],
    ["a code around it", { in: "/r/vm", absent: "none" }, { r: { errorcode: 530, errortext: "x" } }, true],
    ["the number of its page", "/vms", { no: 1, size: 20, vms: [] }, false],
    ["a number of an error", "/vms", { errno: 7, vms: [] }, true],
    ["a no", "/vms", { success: 0, vms: [] }, true],
    ["another no", "/vms", { isSuccess: "False", code: 0, vms: null }, true],
    ["a word for a failure", "/vms", { status: "ERROR", vms: [] }, true],
    ["a yes", "/vms", { success: 1, status: "ok", vms: [] }, false],
    ["a fault beside it", { in: "/vms", absent: "none" }, { fault: { text: "busy" } }, true],
  ])("an empty list beside %s", (_, items, body, isFailure) => {
    const read = page(items, body);
    if (!isFailure) return expect(read.status).toBe("accepted");
    expect(read).toMatchObject({
      status: "rejected",
      condition: "unreadable",
      message: expect.stringContaining("failed"),
    });
  });

  test("and the line that is named for a code that is one of success reads it", () => {
    const body = { code: 20000, msg: "done", data: null };
    const unread = page("", body);
    expect(unread).toMatchObject({
      hint: expect.stringContaining("envelope: { success: { value: /code, is: 20000 } }"),
    });
    const readers = createRecordReaders(mergeDialect({ envelope: { success: { value: "/code", is: 20000 } } }));
    expect(readers.page("vm.list", body, {})).toMatchObject({ value: { items: [] } });
    expect(readers.page("group.rule.list", body, {})).toMatchObject({ value: { items: [] } });
  });

  test("and not where a list is somewhere else", () => {
    const elsewhere = page("/answer/vms", { answer: { machines: [] } });
    expect(JSON.stringify(elsewhere)).not.toContain("absent");
  });
});

test("rules under several keys are read together, each with the direction of its key unless it says its own", () => {
  const { dialect } = readDialectText(
    "records: { group: { rules: [{ value: /in, direction: ingress }, { value: /out, direction: egress }] } }",
    "d.yaml",
  );
  const readers = createRecordReaders(dialect);
  const group = { id: "g", name: "web", in: [{ id: "1" }, { id: "2", direction: "egress" }], out: [{ id: "3" }] };
  expect(readers.group(group)).toMatchObject({
    value: {
      rules: [
        { id: "1", direction: "ingress" },
        { id: "2", direction: "egress" },
        { id: "3", direction: "egress" },
      ],
    },
  });
  const listed = readers.page("group.rule.list", { data: { in: [{ id: "1" }], out: [{ id: "3" }] } }, {});
  expect(listed).toMatchObject({ value: { items: [{ direction: "ingress" }, { direction: "egress" }] } });
  expect(readers.page("group.rule.list", { data: {} }, {})).toMatchObject({ status: "rejected" });
});
