/** A service that lists apart what hangs on what: what its list shows, and what nobody knows while it cannot be read. */
import { expect, test } from "vitest";
import { tryCase } from "../../reconciler/dialect/case";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { start } from "./make-client";
import { fault, json, type Script } from "./scripted-server";

const dialectOf = (attachments: string) => {
  const text = `operations:
  volume.list: { method: GET, path: /volumes }
  vm.list: { method: GET, path: /servers }
  attachments: ${attachments}`;
  const { dialect, diagnostics } = readDialectText(text, "dialect.yaml");
  expect(diagnostics).toEqual([]);
  return dialect;
};

const ofAll = "{ method: GET, path: /attachments, vm: /server_id, volume: /volume_id }";
const ofEach = '{ method: GET, path: "/servers/{id}/attachments", volume: /volumeId }';
const usual: Readonly<Record<string, Script>> = {
  "/servers": json(200, [
    { id: "m-1", name: "web" },
    { id: "m-2", name: "db" },
  ]),
  "/volumes": json(200, [{ id: "v-1" }, { id: "v-2", attached_to: "m-9" }, { id: "v-3" }]),
};

/** Where each volume hangs by its list, and what was asked for. */
async function hostsBy(attachments: string, scripts: Readonly<Record<string, Script>>) {
  const script: Script = (request, response, raw) =>
    (({ ...usual, ...scripts })[request.url.split("?")[0] ?? ""] ?? fault(404, "nothing here"))(request, response, raw);
  const { client } = await start([script], { dialect: dialectOf(attachments) });
  const listed = await client.listVolumes();
  const hosts = listed.status === "accepted" ? listed.value.map(({ attachedTo }) => attachedTo) : listed;
  return { hosts };
}

test("the list says what hangs on what, and what it does not show hangs on nothing", async () => {
  const { hosts } = await hostsBy(ofAll, {
    "/attachments": json(200, { attachments: [{ id: "a", server_id: "m-2", volume_id: "v-1" }] }),
  });
  expect(hosts).toEqual(["m-2", null, null]);
});

test("where it cannot be read nobody knows what hangs on what", async () => {
  expect((await hostsBy(ofAll, { "/attachments": fault(403, "not yours") })).hosts).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("an answer that does not fit is told with the line, and stands for no list", async () => {
  expect((await hostsBy(ofAll, { "/attachments": json(200, { links: [{ server: "m-1" }] }) })).hosts).toMatchObject({
    condition: "unreadable",
    hint: expect.stringContaining("operations.attachments.items"),
  });
  expect((await hostsBy(ofAll, { "/attachments": json(200, [{ server_id: "m-1" }]) })).hosts).toMatchObject({
    hint: expect.stringContaining("operations.attachments.volume"),
  });
});

test("an attachment to nothing is none, and one volume on two VMs is on no one of them", async () => {
  const all = [
    { volume_id: "v-1", server_id: null },
    { volume_id: "v-2", server_id: "m-1" },
    { volume_id: "v-2", server_id: "m-2" },
    { volume_id: "v-3", server_id: "m-2" },
  ];
  expect((await hostsBy(ofAll, { "/attachments": json(200, all) })).hosts).toEqual([null, undefined, "m-2"]);
});

test("of lists for each VM one that cannot be read leaves open what the others do not show", async () => {
  const one = json(200, [{ volumeId: "v-1" }]);
  const { hosts } = await hostsBy(ofEach, {
    "/servers/m-1/attachments": one,
    "/servers/m-2/attachments": json(200, []),
  });
  expect(hosts).toEqual(["m-1", null, null]);
  const broken = await hostsBy(ofEach, {
    "/servers/m-1/attachments": one,
    "/servers/m-2/attachments": fault(404, "no"),
  });
  expect(broken.hosts).toEqual(["m-1", undefined, undefined]);
});

test("a volume that was asked to hang on a VM is looked for there first", async () => {
  const script: Script = (request, response, raw) => {
    const { url } = request;
    if (url.endsWith("/attach")) return json(200, { data: "attached" })(request, response, raw);
    if (url.endsWith("/volume/v-1")) return json(200, { id: "v-1" })(request, response, raw);
    return json(200, [{ volumeId: "v-1" }])(request, response, raw);
  };
  const { client, server } = await start([script], { dialect: dialectOf(ofEach) });
  await client.attachVolume("v-1", "m-2");
  expect(await client.getVolume("v-1")).toMatchObject({ value: { attachedTo: "m-2" } });
  expect(server.received.map(({ url }) => url).filter((url) => url.startsWith("/servers"))).toEqual([
    "/servers/m-2/attachments",
  ]);
});

test("a case of a dialect reads them, and says what is asked", () => {
  const answer = { status: 200, text: JSON.stringify([{ volumeId: "v-1" }]) };
  const tried = { title: "", operation: "attachments", answer, ids: { id: "m-1" } } as const;
  expect(tryCase(dialectOf(ofEach), { ...tried, reads: [{ volume: "v-1", vm: "m-1" }] })).toEqual([]);
  expect(tryCase(dialectOf(ofEach), { ...tried, sends: { path: "/servers/m-1/attachments" } })).toEqual([]);
  expect(tryCase(dialectOf(ofAll), { ...tried, reads: [] })).toEqual([
    expect.stringContaining("operations.attachments.volume"),
  ]);
});

test.each([
  ["{ method: GET, path: /attachments, volume: /volume_id }", "which VM"],
  ['{ method: GET, path: "/{project}/attachments", vm: /vm, volume: /volume_id }', "{project}"],
])("what cannot be right of %s is told", (attachments, what) => {
  const { diagnostics } = readDialectText(`operations: { attachments: ${attachments} }`, "dialect.yaml");
  expect(diagnostics).toMatchObject([{ code: "dialect/placeholder", summary: expect.stringContaining(what) }]);
});

test("a volume that was made is made, whatever becomes of the look for the VM that it seems to name", async () => {
  const text = "records: { volume: { attached_to: { value: /server, by: name } } }";
  const made = json(200, { data: { id: "v-1", name: "data", size: 1, server: "-" } });
  const script: Script = (request, response, raw) =>
    (request.method === "POST" ? made : fault(403, "no lists"))(request, response, raw);
  const { client } = await start([script], { dialect: readDialectText(text, "dialect.yaml").dialect });
  const outcome = await client.createVolume("data", 1);
  expect(outcome).toMatchObject({ status: "accepted", value: { id: "v-1" } });
  expect(outcome).not.toHaveProperty("value.attachedTo");
});

test("a list of VMs that shows others on another page proves of no volume that it hangs on nothing", async () => {
  const pages: Readonly<Record<string, Script>> = {
    "/servers": (request, ...others) =>
      json(200, [{ id: request.url.includes("page=2") ? "m-2" : "m-1", name: "web" }])(request, ...others),
    "/volumes": json(200, [{ id: "v-1" }, { id: "v-2" }]),
    "/servers/m-1/attachments": json(200, [{ volumeId: "v-1" }]),
  };
  const script: Script = (request, response, raw) =>
    (pages[request.url.split("?")[0] ?? ""] ?? fault(404, "nothing here"))(request, response, raw);
  const { client } = await start([script], { dialect: dialectOf(ofEach) });
  const listed = await client.listVolumes({ proves: true });
  const second = listed.status === "accepted" ? listed.value.find(({ id }) => id === "v-2") : undefined;
  expect(second).toBeDefined();
  expect(second?.attachedTo).toBeUndefined();
});
