import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { answersFrom, recordingIn } from "../../reconciler/cli/doctor/answers";
import { readTold, withTold } from "../../reconciler/cli/doctor/told";
import { assumedOperations, operations } from "../../reconciler/core/model/operation";
import type { Outcome } from "../../reconciler/core/model/outcome";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import type { DoctorPorts } from "../../reconciler/engine/doctor/look";
import { leftToDo } from "../../reconciler/engine/doctor/todo";
import { dialectYaml, doctorText } from "../../reconciler/report/doctor-text";
import { start } from "../service/make-client";
import { fault, json, type Script } from "../service/scripted-server";

const absent: Outcome<unknown> = { status: "rejected", condition: "not_found", message: "not found", httpStatus: 404 };

const contractual = { status: 404, text: JSON.stringify({ error: { code: 404, message: "not found" } }) };

function serviceWith(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const probe: DoctorPorts["probe"] = async ({ path }) => {
    asked.push(path);
    const answer = answers[path];
    if (answer === undefined) return { outcome: absent, answer: contractual };
    return typeof answer === "object" && answer !== null && "status" in answer && !("name" in answer)
      ? { outcome: answer as Outcome<unknown>, answer: undefined }
      : { outcome: { status: "accepted", value: answer }, answer: { status: 200, text: JSON.stringify(answer) } };
  };
  return { asked, probe };
}

test("a list that is read with PUT says nothing of how others are read", async () => {
  const given = "operations: { vm.list: { method: PUT, path: /servers } }";
  const { probe } = serviceWith({ "/servers": [{ id: "s-1", name: "web", status: "up" }] });
  const changing: string[] = [];
  const ports: DoctorPorts = {
    probe: async (request) => {
      if (request.method !== "GET") changing.push(request.path);
      return probe(request);
    },
  };
  await diagnoseService(ports, readDialectText(given, "given.yaml").dialect);
  expect([...new Set(changing)]).toEqual(["/servers"]);
});

test("a kept answer of another make is passed over", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await diagnoseService(recordingIn(folder, serviceWith({ "/api/v1/vm/list": [{ id: "v-1" }] })), builtInDialect);
  const [first = ""] = readdirSync(folder);
  const { request } = JSON.parse(readFileSync(join(folder, first), "utf8"));
  for (const [nth, answer] of [{ status: "200" }, { status: 200, text: 5 }, 5, null].entries())
    writeFileSync(join(folder, `other-${nth}.json`), JSON.stringify({ request, answer }));
  const { operations: found } = await diagnoseService(answersFrom(folder, builtInDialect), builtInDialect);
  expect(found[0]).toMatchObject({ operation: "vm.list", verdict: "found" });
});

test("what was kept before stays, and of one request the last answer counts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const saying = (text: string): DoctorPorts => ({
    probe: async () => ({ outcome: { status: "accepted", value: undefined }, answer: { status: 200, text } }),
    withAuthorization: () => saying(`${text}, as another`),
  });
  const asked = { operation: "vm.list", method: "GET", path: "/vms" } as const;
  for (const text of ["first", "second"]) {
    const ports = recordingIn(folder, saying(text));
    await ports.probe(asked);
    await ports.withAuthorization?.("X-Key", "{token}").probe({ ...asked, path: "/other" });
  }
  expect(readdirSync(folder)).toHaveLength(4);
  writeFileSync(join(folder, "9999-vm.list.json"), "{}");
  await recordingIn(folder, saying("third")).probe(asked);
  const kept = answersFrom(folder, builtInDialect);
  const texts = [asked, { ...asked, path: "/other" }].map(async (one) => (await kept.probe(one)).answer?.text);
  expect(await Promise.all(texts)).toEqual(["third", "second, as another"]);
});

describe("operations", () => {
  test("what the dialect assumes is found where it says", async () => {
    const report = await diagnoseService(serviceWith({ "/api/v1/vm/list": [] }), builtInDialect);
    expect(report.operations[0]).toMatchObject({
      operation: "vm.list",
      verdict: "found",
      route: { path: "/api/v1/vm/list" },
    });
    expect(report).toMatchObject({ reachable: true, credential: "accepted" });
  });

  test("another common place is tried, and goes into the dialect that fits", async () => {
    const report = await diagnoseService(serviceWith({ "/api/v1/volumes": { data: [{ id: "d" }] } }), builtInDialect);
    expect(report.dialect.operations["volume.list"]).toMatchObject({ method: "GET", path: "/api/v1/volumes" });
  });

  test("a list that differs at each look, whatever it is asked for, reads no one by its id", async () => {
    let looks = 0;
    const probe: DoctorPorts["probe"] = async ({ path }) => {
      const isList = path.split("?")[0] === "/api/v1/vm/list";
      const text = JSON.stringify({ data: [{ id: "v-1", name: "n", status: "ACTIVE", uptime: looks++ }] });
      return isList
        ? { outcome: { status: "accepted", value: JSON.parse(text) }, answer: { status: 200, text } }
        : { outcome: absent, answer: contractual };
    };
    const { dialect } = await diagnoseService({ probe }, builtInDialect);
    expect(dialect.operations["vm.list"]).toMatchObject({ path: "/api/v1/vm/list" });
    expect(dialect.operations["vm.get"]).toBeNull();
  });

  test("a list of one region is read in each, and says of which it was not shown", async () => {
    const { dialect } = readDialectText(
      "operations: { vm.list: { method: GET, path: /servers, query: { zone: west } } }",
      "given.yaml",
    );
    const server = (id: string) => ({ id, name: id, status: "up" });
    const answers = {
      "/api/v1/region/list": [{ id: "west" }, { id: "east" }],
      "/servers?zone=west": [server("s-1")],
      "/servers/s-1": server("s-1"),
    };
    const east = { "/servers?zone=east": [server("s-2")] };
    const whole = await diagnoseService(serviceWith({ ...answers, ...east }), dialect);
    expect(whole.dialect.operations["vm.list"]).toMatchObject({ query: { zone: "{region}" }, for_each: "region" });
    expect(whole.dialect.operations["vm.get"]).toMatchObject({ path: "/servers/{id}" });
    const cut = await diagnoseService(serviceWith(answers), dialect);
    expect([whole, cut].map((report) => leftToDo(report).filter((line) => line.includes("region east")))).toEqual([
      [],
      [expect.stringMatching(/^operations\.vm\.list: what it shows is not all, .*not_found: not found/)],
    ]);
  });

  test("what is not there is switched off, with its cost", async () => {
    const report = await diagnoseService(serviceWith({}), builtInDialect);
    expect(report.dialect.operations["flavor.list"]).toBeNull();
    expect(report.operations.find(({ operation }) => operation === "flavor.list")).toMatchObject({
      verdict: "missing",
      fallback: {
        cost: operations["flavor.list"].assumed.cost,
        instead: operations["flavor.list"].assumed.instead,
      },
    });
  });

  test.each([
    ["vm.list", "/api/v1/vm/list", absent],
    ["group.list", "/api/v1/security-group", absent],
    ["flavor.list", "/api/v1/flavor/list", { ...absent, condition: "not_proven" }],
    ["vm.get", "/api/v1/vm/v-1", absent],
  ] as const)("one false answer does not make %s absent where the dialect names it", async (operation, lied, lie) => {
    const service = serviceWith({
      "/api/v1/vm/list": [{ id: "v-1", name: "n" }],
      "/api/v1/vm/v-1": { data: { id: "v-1" } },
      "/api/v1/security-group": [{ id: "g-1", name: "front" }],
      "/api/v1/flavor/list": [{ id: "f-1", name: "m1.small" }],
    });
    let left = 1;
    const probe: DoctorPorts["probe"] = async (request) =>
      request.path === lied && left-- > 0 ? { outcome: lie, answer: contractual } : service.probe(request);
    const operations = {
      ...builtInDialect.operations,
      "group.list": { method: "GET", path: "/api/v1/security-group", items: [""] } as const,
      "vm.get": { method: "GET", path: "/api/v1/vm/{id}" } as const,
    };
    const report = await diagnoseService({ probe }, { ...builtInDialect, operations });
    expect(report.operations.find((one) => one.operation === operation)).toMatchObject({ verdict: "found" });
    expect(report.dialect.operations[operation]?.path).toBe(operations[operation]?.path);
  });

  test("what is out of order decides nothing, and stays as it was", async () => {
    const down: Outcome<unknown> = { status: "unavailable", reason: "down", httpStatus: 503 };
    const report = await diagnoseService(serviceWith({ "/api/v1/vm/list": down }), builtInDialect);
    expect(report.operations[0]).toMatchObject({ verdict: "unclear" });
    expect(report.dialect.operations["vm.list"]).toEqual(builtInDialect.operations["vm.list"]);
  });

  test("an answer without a list is no list", async () => {
    const report = await diagnoseService(serviceWith({ "/api/v1/vm/list": { id: "list" } }), builtInDialect);
    expect(report.operations[0]).toMatchObject({
      verdict: "missing",
      tried: expect.arrayContaining([{ path: "/api/v1/vm/list", answer: "an answer without a list" }]),
    });
  });

  test("a list that the dialect reads in another way is read so, as a plan does", async () => {
    const service = serviceWith({ "/search": [] });
    const operations = {
      ...builtInDialect.operations,
      "vm.list": { method: "POST", path: "/search", items: [""] } as const,
    };
    await diagnoseService(service, { ...builtInDialect, operations });
    expect(service.asked).toContain("/search");
  });

  test("one VM is read by the id that the list shows", async () => {
    const service = serviceWith({
      "/api/v1/vm/list": [{ id: "a/b", name: "n" }],
      "/api/v1/vm/a%2Fb": { data: { id: "a/b" } },
    });
    const report = await diagnoseService(service, builtInDialect);
    expect(report.dialect.operations["vm.get"]).toEqual({ method: "GET", path: "/api/v1/vm/{id}" });
  });

  test("every assumed operation is in the report", async () => {
    const report = await diagnoseService(serviceWith({}), builtInDialect);
    expect(report.operations.map(({ operation }) => operation)).toEqual([...assumedOperations]);
  });

  test("a service that is not there, or refuses the credential, is asked nothing more", async () => {
    for (const [outcome, expected] of [
      [
        { status: "unavailable", reason: "refused" },
        { reachable: false, diagnostics: [{ code: "service/unreachable" }] },
      ],
      [
        { status: "rejected", condition: "unauthenticated", message: "no" },
        { credential: "refused", diagnostics: [{ code: "service/credential-refused" }] },
      ],
    ] as const) {
      const asked: string[] = [];
      const report = await diagnoseService(
        { probe: async ({ path }) => ({ outcome: asked.push(path) > 0 ? outcome : absent, answer: undefined }) },
        builtInDialect,
      );
      expect(report).toMatchObject(expected);
      expect(asked).toHaveLength(1);
    }
  });
});

describe("records", () => {
  const vms = [{ Uid: "1", name: "web", vmState: "PAUSED", volumes: ["d1"] }];

  test("each field is shown with the pointer that finds it, or with the key that may be meant", async () => {
    const report = await diagnoseService(serviceWith({ "/api/v1/vm/list": vms }), builtInDialect);
    const vm = report.records.find(({ record }) => record === "vm")!;
    expect(vm.keys).toEqual(["Uid", "name", "vmState", "volumes"]);
    expect(vm.fields).toContainEqual({ field: "id", place: "/Uid", shows: "1", learnt: true });
    expect(vm.fields).toContainEqual({ field: "name", place: "/name", shows: "web" });
    expect(report.dialect.records.vm.id[0]).toBe("/Uid");
  });

  test("a volume that a VM's record names is read by its id", async () => {
    const service = serviceWith({ "/api/v1/vm/list": vms, "/api/v1/volume/d1": { data: { id: "d1", size: "9" } } });
    const report = await diagnoseService(service, builtInDialect);
    expect(report.records.find(({ record }) => record === "volume")?.fields).toContainEqual({
      field: "size",
      place: "/size",
      shows: "9",
    });
  });

  test("states without a meaning are listed", async () => {
    const report = await diagnoseService(
      serviceWith({
        "/api/v1/vm/list": [
          { id: "1", status: "PAUSED" },
          { id: "2", status: "ACTIVE" },
        ],
      }),
      builtInDialect,
    );
    expect(report.unknownVmStates).toEqual(["PAUSED"]);
  });
});

test.each([
  ["Bearer {token}", "{token}", { name: "Authorization", header: "{token}" }],
  ["{token}", "Bearer {token}", { name: "Authorization", header: "Bearer {token}" }],
  ["Bearer {token}", "Basic {token}", { name: "Authorization", header: "Basic {token}" }],
])("a credential that was sent as %s is sent as %s where that is taken", async (said, taken, authorization) => {
  const refused: Outcome<unknown> = { status: "rejected", condition: "unauthenticated", message: "no" };
  const sent: string[] = [];
  const portsWith = (header: string): DoctorPorts => ({
    async probe() {
      sent.push(header);
      return { outcome: header === taken ? absent : refused, answer: contractual };
    },
    withAuthorization: (name, other) => portsWith(name === "Authorization" ? other : name),
  });
  const dialect = { ...builtInDialect, authorization: { ...builtInDialect.authorization, header: said } };
  expect((await diagnoseService(portsWith(said), dialect)).authorization).toEqual(authorization);
  expect(sent.filter((header) => header === said)).toHaveLength(1);
});

describe("what is no service", () => {
  const site = (text: string, status: number): DoctorPorts => ({
    probe: async () => ({
      outcome:
        status < 300
          ? { status: "accepted", value: JSON.parse(text) }
          : { status: "rejected", condition: "not_proven", message: "Not Found", httpStatus: status },
      answer: { status, text },
    }),
  });

  test.each([
    ["a site that answers 404 to everything in its own words", site('{"message":"Not Found"}', 404)],
    ["one that names what was not found", site('{"title":"Not Found","detail":"no such page"}', 404)],
    ["one that has an empty list for everything", site("[]", 200)],
    ["one that answers nothing to everything", site("{}", 200)],
    ["one that refuses everything inside a 200", site('{"code":40101,"data":null,"msg":"who"}', 200)],
  ])("%s, also where a list of it was told", async (_, ports) => {
    const told = readDialectText("operations: { vm.list: { path: /api/v2/servers } }", "").dialect;
    expect(await diagnoseService(ports, told)).toMatchObject({ reachable: false, credential: "unknown" });
    const report = await diagnoseService(ports, builtInDialect);
    expect(report).toMatchObject({ reachable: false, operations: [] });
    expect(report.diagnostics).toContainEqual(expect.objectContaining({ code: "service/not-this-service" }));
  });

  test("a service whose words for a missing volume are not those for a missing path is one", async () => {
    const refusal = (message: string) => ({
      outcome: { status: "rejected" as const, condition: "not_proven" as const, message, httpStatus: 404 },
      answer: { status: 404, text: JSON.stringify({ message }) },
    });
    const report = await diagnoseService(
      { probe: async ({ path }) => refusal(path.startsWith("/api/v1/volume/") ? "no such volume" : "no such path") },
      builtInDialect,
    );
    expect(report.reachable).toBe(true);
  });
});

describe("over HTTP", () => {
  const service: Script = (request, response, raw) => {
    const path = request.url;
    if (path === "/api/v1/vm/list") json(200, { data: [{ uid: "1", name: "web" }] })(request, response, raw);
    else if (path === "/api/v1/images") json(200, [{ id: "i", name: "n" }])(request, response, raw);
    else fault(404, "not found")(request, response, raw);
  };

  test("nothing but GET is sent", async () => {
    const { client, server } = await start([service]);
    await diagnoseService(client, builtInDialect);
    expect(new Set(server.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(server.received.length).toBeGreaterThan(10);
  });

  const page: Script = (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Our console</title>");
  };
  const pageElse =
    (path: string, answer: Script): Script =>
    (request, response, raw) =>
      (request.url === path ? answer : page)(request, response, raw);

  test("a service with a page where nothing is has what it has", async () => {
    const { client } = await start([pageElse("/api/v1/vm/list", json(200, [{ id: "1", name: "web" }]))]);
    const report = await diagnoseService(client, builtInDialect);
    expect(report).toMatchObject({ reachable: true, credential: "accepted" });
    expect(report.dialect.operations).toMatchObject({ "vm.list": { path: "/api/v1/vm/list" }, "volume.list": null });
  });

  test("what has a page for everything can be reached, and is no service", async () => {
    const { client } = await start([page]);
    const { reachable, diagnostics } = await diagnoseService(client, builtInDialect);
    expect([reachable, diagnostics.map(({ code }) => code)]).toEqual([false, ["service/not-this-service"]]);
  });

  test.each([
    ["/v2/pictures", "/v2/pictures"],
    ["/api/v1/image/list/", "/api/v1/image/list/"],
    ["http://127.0.0.1:9/v2/pictures", undefined],
    ["/v2/pictures?signature=s3cret", undefined],
    ["/nothing", undefined],
  ])("a list that was moved to %s is looked for at %s", async (location, path) => {
    const { client, server } = await start([
      (request, response, raw) => {
        const at = request.url;
        if (at === "/api/v1/image/list") response.writeHead(301, { location }).end();
        else if (at === "/v2/pictures" || at === "/api/v1/image/list/")
          json(200, [{ id: "i", name: "n" }])(request, response, raw);
        else if (at?.startsWith("/api/v1/im") || at?.startsWith("/api/v1/volume/0000") === true)
          fault(404, `${at} not found`)(request, response, raw);
        else response.writeHead(302, { location: "/nothing" }).end();
      },
    ]);
    const { dialect } = await diagnoseService(
      { probe: (request) => client.probe(request), baseUrl: server.baseUrl },
      builtInDialect,
    );
    expect(dialect.operations["image.list"]?.path).toBe(path);
  });

  test("the dialect it prints is one that can be read, and it fits", async () => {
    const { client } = await start([service]);
    const report = await diagnoseService(client, builtInDialect);
    const { dialect, diagnostics } = readDialectText(dialectYaml(report), "printed");
    expect(diagnostics.filter(({ code }) => code !== "dialect/todo")).toEqual([]);
    expect(dialect.operations["image.list"]).toMatchObject({ path: "/api/v1/images" });
    expect(dialect.operations["flavor.list"]).toBeNull();
    expect(dialect.records.vm.id).toEqual(["/uid"]);
    expect(await diagnoseService(client, dialect)).toMatchObject({ records: [{ record: "vm" }, { record: "image" }] });
  });

  test("the text names what was found, what is missing, and what that costs", async () => {
    const { client } = await start([service]);
    const text = doctorText(await diagnoseService(client, builtInDialect));
    expect(text).toContain("credential  accepted");
    expect(text).toMatch(/image\.list {10}found {6}GET \/api\/v1\/images/);
    expect(text).toContain(operations["volume.list"].assumed.cost);
    expect(text).toContain("A dialect that fits");
    expect(text).toMatch(/id {11}\/uid {2}shows 1/);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });
});

test("an answer that goes down without end is no list, and ends nothing", async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const { client } = await start([
    (request, response, raw) => {
      if (request.url !== "/api/v1/vm/list") return fault(404, "not found")(request, response, raw);
      response.writeHead(200, { "content-type": "application/json" }).end(deep);
    },
  ]);
  expect((await diagnoseService(client, builtInDialect)).reachable).toBe(true);
  const listed = await client.listVms();
  expect(listed).toMatchObject({ status: "unavailable", reason: expect.stringContaining("not JSON") });
});

test.each([0, 1])("pages that are counted from %s are read without one left out", async (first) => {
  const all = Array.from({ length: 12 }, (_, nth) => ({ id: `d-${nth}`, name: `n-${nth}` }));
  const { client } = await start([
    (request, response, raw) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://inner");
      if (pathname !== "/api/v1/volumes") return fault(404, "not found")(request, response, raw);
      const page = Number(searchParams.get("page") ?? first) - first;
      return json(200, { volumes: all.slice(page * 3, page * 3 + 3), total: 12 })(request, response, raw);
    },
  ]);
  const report = await diagnoseService(client, builtInDialect);
  expect(report.dialect.operations["volume.list"]?.pagination ?? report.dialect.pagination).toMatchObject({
    number: first,
    param: "page",
  });
  expect(report.operations.find(({ operation }) => operation === "volume.list")?.items).toBe(12);
});

test("what a record shows turns no line of the text or of the dialect", async () => {
  const listed = json(200, { data: [{ id: "1", name: "w\u202eb\u2066\u200b\u001b[31m" }] });
  const service: Script = (request, response, raw) =>
    (request.url === "/api/v1/vm/list" ? listed : fault(404, "not found"))(request, response, raw);
  const { client } = await start([service]);
  const report = await diagnoseService(client, builtInDialect);
  expect(doctorText(report)).toContain("w\\u202eb");
  for (const text of [doctorText(report), dialectYaml(report)])
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("what is kept holds nothing private, and every number as it came", async () => {
  const folder = mkdtempSync(join(tmpdir(), "answers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kept = async (text: string): Promise<string | undefined> => {
    const request = { operation: "vm.list", method: "GET", path: "/vms" } as const;
    const ports = recordingIn(folder, {
      probe: async () => ({ outcome: { status: "accepted", value: undefined }, answer: { status: 200, text } }),
    });
    await ports.probe(request);
    return (await answersFrom(folder, builtInDialect).probe(request)).answer?.text;
  };
  const long = '{ "vms": [{"id":12345678901234567890,"password":"","nextToken":"t","has_secret":true}] }';
  expect(await kept(long)).toBe(long);
  const own =
    '{"id":12345678901234567890,"root_pass":"s3","adminPass":33,"ssh_keys":["s3"],"user_data":{"a":"s3"},"console":{"access_token":"s3"}}';
  const text = (await kept(own)) ?? "";
  expect(text).toContain("12345678901234567890");
  expect(text).not.toMatch(/s3|33/);
  expect(await kept("no JSON")).toBe("no JSON");
});

describe("a list of what hangs on what", () => {
  const vms = [
    { id: "m-1", name: "web", state: "up" },
    { id: "m-2", name: "db", state: "up" },
  ];
  const volumes = [
    { id: "v-1", title: "data", size: 5 },
    { id: "v-2", title: "spare", size: 7 },
  ];
  const lists = { "/api/v1/servers": vms, "/api/v1/volumes": volumes };
  const attachmentsIn = async (answers: Record<string, unknown>, told?: DoctorPorts["told"]) => {
    const ports = { ...serviceWith({ ...lists, ...answers }), ...(told === undefined ? {} : { told }) };
    const report = await diagnoseService(ports, builtInDialect);
    return { attachments: report.dialect.attachments, todo: leftToDo(report) };
  };

  test.each([
    ["/api/v1/attachments", [{ id: "a", server_id: "m-2", volume_id: "v-1" }], { vm: ["/server_id"] }],
    ["/api/v1/volume-attachments", [{ host: "web", disk: { ref: "/volumes/v-2" } }], { vm: [{ by: "name" }] }],
  ])("is found at %s by the ids of both", async (path, items, wanted) => {
    expect((await attachmentsIn({ [path]: { attachments: items } })).attachments).toMatchObject({ path, ...wanted });
  });

  test("below each VM it has to differ from one to the other, and from the list of volumes", async () => {
    const apart = { "/api/v1/servers/m-1/attachments": [{ volume: "v-1" }], "/api/v1/servers/m-2/attachments": [] };
    const { attachments, todo } = await attachmentsIn(apart);
    expect(attachments).toMatchObject({ path: "/api/v1/servers/{id}/attachments", vm: [], volume: ["/volume"] });
    expect(todo.join()).not.toMatch(/attached_to|vm\.volumes/);
    const all = { "/api/v1/servers/m-1/volumes": volumes, "/api/v1/servers/m-2/volumes": volumes };
    expect((await attachmentsIn(all)).attachments).toBeUndefined();
  });

  test("stands in the record of each VM that is read by itself, and may be left out of it", async () => {
    const [web, db] = vms;
    const records = {
      "/api/v1/servers/m-1": { vm: { ...web, devices: [{ slot: 1, disk_id: "v-1" }] } },
      "/api/v1/servers/m-2": { vm: db },
    };
    const { attachments, todo } = await attachmentsIn(records);
    const items = [{ in: "/vm/devices", absent: "none" }];
    expect(attachments).toEqual({ method: "GET", path: "/api/v1/servers/{id}", items, vm: [], volume: ["/disk_id"] });
    expect(todo.join()).not.toMatch(/attached_to|vm\.volumes/);
  });

  test("shows what a trial attached on any of its pages", async () => {
    const at = "/api/v1/attachments";
    const pages = {
      [at]: { attachments: [{ server_id: "m-2", volume_id: "v-2" }], page: { next: `${at}?page=2` } },
      [`${at}?page=2`]: { attachments: [{ server_id: "m-1", volume_id: "v-1" }] },
    };
    const nothing = { sizes: new Map(), data: new Set<string>(), root: new Set<string>() };
    const hanging = (free: string) => ({
      made: { ...nothing, hangs: { vm: "m-1", volume: "v-1" }, free: new Set([free]) },
    });
    const foundWith = async (free: string) =>
      (await diagnoseService(serviceWith({ ...lists, ...pages }), builtInDialect, hanging(free))).dialect.attachments;
    expect(await foundWith("v-9")).toMatchObject({ path: at });
    expect(await foundWith("v-2")).toBeUndefined();
  });

  test.each([
    ["/attachments", { in: "/attachments", where: { state: "ATTACHED" } }],
    [
      { in: "/attachments", where: { kind: "disk" } },
      { in: "/attachments", where: { kind: "disk" } },
    ],
  ] as const)("that keeps what is over, read at %j, is read at %j", async (given, items) => {
    const path = "/api/v1/attachments";
    const attachments = { method: "GET", path, items: [given], vm: ["/server_id"], volume: ["/volume_id"] } as const;
    const item = (server_id: string, volume_id: string, state: string) => ({
      kind: "disk",
      server_id,
      volume_id,
      state,
    });
    const shown = { attachments: [item("m-2", "v-2", "DETACHED"), item("m-1", "v-1", "ATTACHED")] };
    const made = { sizes: new Map(), data: new Set<string>(), root: new Set<string>(), free: new Set(["v-2"]) };
    const service = serviceWith({ ...lists, [path]: shown });
    const { dialect } = await diagnoseService(service, { ...builtInDialect, attachments }, { made });
    expect(dialect.attachments).toEqual({ ...attachments, items: [items] });
  });

  test("is not looked for where volumes say themselves what they hang on", async () => {
    const service = serviceWith({ ...lists, "/api/v1/volumes": [{ id: "v-1", name: "data", vm_id: "m-1" }] });
    await diagnoseService(service, builtInDialect);
    expect(service.asked.filter((path) => path.includes("attachment"))).toEqual([]);
  });

  test("that a person told is read where it is, and asked about while it shows nothing", async () => {
    const { reads } = withTold(
      builtInDialect,
      readTold({ curl: ["attachments=curl https://c.example/api/v1/links?kind=disk"] }),
      "https://c.example",
      new Set(),
    );
    const at = "/api/v1/links?kind=disk";
    const found = await attachmentsIn({ [at]: [{ vm: "m-1", disk: "v-2" }] }, reads);
    expect(found.attachments).toMatchObject({ path: "/api/v1/links", query: { kind: "disk" }, volume: ["/disk"] });
    const empty = await attachmentsIn({ [at]: [] }, reads);
    expect([empty.attachments, empty.todo.join()]).toEqual([undefined, expect.stringContaining("/api/v1/links")]);
  });

  test("is written, and read back as it was found", async () => {
    const at = { "/api/v1/attachments": [{ server_id: "m-2", volume_id: "v-1" }] };
    const report = await diagnoseService(serviceWith({ ...lists, ...at }), builtInDialect);
    const { dialect, diagnostics } = readDialectText(dialectYaml(report), "my.yaml");
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(dialect.attachments).toEqual(report.dialect.attachments);
  });
});
