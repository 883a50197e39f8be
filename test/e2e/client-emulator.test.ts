/** The client against the embedded service over real HTTP: every operation once, and every condition by its name. */
import { afterEach, describe, expect, test } from "vitest";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator/index";
import { assumedOperations, documentedOperations } from "../../reconciler/core/model/operation";
import type { Outcome } from "../../reconciler/core/model/outcome";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import { Credential } from "../../reconciler/service/credential";
import { createServiceClient, type HttpServiceClient } from "../../reconciler/service/http-client";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const everything = `
operations:
  vm.get:            { method: GET, path: "/api/v1/vm/{id}" }
  volume.list:       { method: GET, path: /api/v1/volume/list }
  group.list:        { method: GET, path: /api/v1/security-group }
  group.get:         { method: GET, path: "/api/v1/security-group/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" }
rules: { port_range: "{min}-{max}" }
`;
const optional = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

async function start(options: EmulatorOptions = {}): Promise<{ client: HttpServiceClient; emulator: RunningEmulator }> {
  const emulator = await startEmulator({ timeScale: 0, with: optional, portRange: "{min}-{max}", ...options });
  const { dialect, diagnostics } = readDialectText(everything, "everything.yaml");
  expect(diagnostics).toEqual([]);
  const client = createServiceClient({
    baseUrl: emulator.url,
    dialect,
    credential: new Credential("Bearer ops-token", { kind: "fixed" }),
    timing: { requestTimeoutMs: 10_000 },
  });
  open.push(emulator, client);
  return { client, emulator };
}

function acceptedValue<T>(outcome: Outcome<T>): T {
  if (outcome.status !== "accepted") throw new Error(JSON.stringify(outcome));
  return outcome.value;
}

const input = {
  name: "web",
  flavor: "m1.small",
  image: "ubuntu-24.04",
  owner: "ops@acme.example",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  sizeGb: 10,
} as const;

test("every operation of the service, once", async () => {
  const { client, emulator } = await start({ pageSize: 2 });
  const [image] = acceptedValue(await client.listImages());
  expect(acceptedValue(await client.listFlavors()).map(({ name }) => name)).toContain("m1.small");
  expect(acceptedValue(await client.listRegions()).map(({ id }) => id)).toContain("in-west-1");

  for (const name of ["web", "web-2", "web-3"])
    acceptedValue(await client.createVm({ ...input, name, image: image!.id }));
  const vms = acceptedValue(await client.listVms());
  expect(vms.map(({ name }) => name).sort()).toEqual(["web", "web-2", "web-3"]);
  const { id } = vms.find(({ name }) => name === "web")!;
  expect(acceptedValue(await client.getVm(id))).toMatchObject({
    id,
    phase: "running",
    owner: "ops@acme.example",
    image: image!.id,
  });

  acceptedValue(await client.renameVm(id, "main-db"));
  acceptedValue(await client.stopVm(id));
  expect(acceptedValue(await client.getVm(id))).toMatchObject({ name: "main-db", phase: "stopped" });
  acceptedValue(await client.startVm(id));
  acceptedValue(await client.rebootVm(id));
  expect(acceptedValue(await client.snapshotVm(id, "before")).imageId).toEqual(expect.any(String));
  acceptedValue(await client.rebuildVm(id, image!.id));
  acceptedValue(await client.resizeVm(id, "m1.medium"));
  expect(acceptedValue(await client.getVm(id)).phase).toBe("verify_resize");
  acceptedValue(await client.revertResize(id));
  acceptedValue(await client.resizeVm(id, "m1.medium"));
  acceptedValue(await client.confirmResize(id));
  expect(acceptedValue(await client.getVm(id)).phase).toBe("running");

  const volume = acceptedValue(await client.createVolume("data", 5));
  expect(volume).toMatchObject({ name: "data", sizeGb: 5, attachedTo: null });
  acceptedValue(await client.attachVolume(volume.id, id));
  expect(acceptedValue(await client.getVolume(volume.id)).attachedTo).toBe(id);
  expect(acceptedValue(await client.getVm(id)).volumes).toContainEqual(expect.objectContaining({ id: volume.id }));
  acceptedValue(await client.detachVolume(volume.id, id, true));
  acceptedValue(await client.resizeVolume(volume.id, 6));
  expect(acceptedValue(await client.listVolumes()).find((each) => each.id === volume.id)?.sizeGb).toBe(6);
  acceptedValue(await client.deleteVolume(volume.id));

  const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", remoteIp: "10.0.0.0/8" } as const;
  const group = acceptedValue(
    await client.createGroup({ name: "web", rules: [{ ...rule, portMin: 443, portMax: 443 }] }),
  );
  expect(group.rules).toContainEqual(expect.objectContaining({ portMin: 443, portMax: 443, remoteIp: "10.0.0.0/8" }));
  acceptedValue(await client.updateGroup(group.id, { description: "tier" }));
  expect(acceptedValue(await client.getGroup(group.id))).toMatchObject({ name: "web", description: "tier" });
  const ranged = acceptedValue(await client.createRule(group.id, { ...rule, portMin: 80, portMax: 90 }));
  expect(ranged).toMatchObject({ portMin: 80, portMax: 90 });
  acceptedValue(await client.deleteRule(group.id, ranged.id));
  expect(acceptedValue(await client.listRules(group.id)).map((each) => each.id)).not.toContain(ranged.id);
  expect(acceptedValue(await client.listGroups()).map((each) => each.id)).toContain(group.id);
  acceptedValue(await client.deleteGroup(group.id));
  const report = acceptedValue(
    await client.importGroups({ SecurityGroups: [{ GroupName: "legacy", Description: "x" }] }),
  );
  expect(report).toMatchObject({ imported: 1, failed: 0, groups: [{ name: "legacy", status: "created" }] });

  expect(acceptedValue(await client.deleteVm(id, true)).preservedVolumes).toHaveLength(1);
  expect(Object.keys(emulator.requests().counts).sort()).toEqual(
    [...documentedOperations, ...assumedOperations].sort(),
  );
});

describe("conditions", () => {
  test("each refusal of the contract has its name", async () => {
    const { client } = await start();
    const [image] = acceptedValue(await client.listImages());
    acceptedValue(await client.createVm({ ...input, image: image!.id }));
    const { id } = acceptedValue(await client.listVms())[0]!;
    const volume = acceptedValue(await client.createVolume("data", 5));
    acceptedValue(await client.attachVolume(volume.id, id));
    const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 } as const;
    const group = acceptedValue(await client.createGroup({ name: "web", rules: [rule] }));
    const other = acceptedValue(await client.createGroup({ name: "web-2", rules: [] }));
    const standard = acceptedValue(await client.listGroups()).find(({ name }) => name === "default")!;
    const root = acceptedValue(await client.getVm(id)).volumes!.find((each) => each.root === true)!;
    const nobody = "00000000-0000-0000-0000-000000000000";
    const refusals: [Promise<Outcome<unknown>>, string][] = [
      [client.createVm({ ...input, image: image!.id, sizeGb: 0, name: "other" }), "bad_request"],
      [client.createGroup({ name: "", rules: [] }), "bad_request"],
      [client.createRule(group.id, rule), "rule_exists"],
      [client.createGroup({ name: "twice", rules: [rule, rule] }), "rule_exists"],
      [client.updateGroup(other.id, { name: "web" }), "name_taken"],
      [client.updateGroup(standard.id, { name: "mine" }), "forbidden"],
      [client.deleteGroup(standard.id), "forbidden"],
      [client.startVm(id), "invalid_state"],
      [client.detachVolume(volume.id, id, false), "flush_not_confirmed"],
      [client.resizeVolume(volume.id, 50), "volume_attached"],
      [client.resizeVolume(root.id, 500), "root_disk"],
      [client.getVolume(nobody), "not_found"],
      [client.attachVolume(volume.id, nobody), "not_found"],
    ];
    const conditions = await Promise.all(
      refusals.map(async ([sent]) =>
        "condition" in (await sent) ? ((await sent) as { condition: string }).condition : (await sent).status,
      ),
    );
    expect(conditions).toEqual(refusals.map(([, condition]) => condition));
  });

  test("an unknown credential is unauthenticated", async () => {
    const { emulator } = await start({ strict: true });
    const credential = new Credential("Bearer nobody", { kind: "fixed" });
    const client = createServiceClient({
      baseUrl: emulator.url,
      dialect: builtInDialect,
      credential,
      timing: { requestTimeoutMs: 5000 },
    });
    open.push(client);
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unauthenticated" });
  });
});

describe("faults", () => {
  test("a write whose answer is dropped is unknown, whether or not it took effect", async () => {
    const { client, emulator } = await start();
    for (const [kind, made] of [
      ["drop-before", 0],
      ["drop-after", 1],
    ] as const) {
      emulator.setFaults([{ operation: "volume.create", kind, count: 1 }]);
      expect((await client.createVolume("data", 5)).status).toBe("unknown");
      expect(acceptedValue(await client.listVolumes())).toHaveLength(made);
    }
    expect(emulator.requests().counts["volume.create"]).toBe(2);
  });

  test("a delete whose answer is dropped is sent again and ends accepted", async () => {
    const { client, emulator } = await start();
    const { id } = acceptedValue(await client.createVolume("data", 5));
    emulator.setFaults([{ operation: "volume.delete", kind: "drop-after", count: 1 }]);
    expect(await client.deleteVolume(id)).toEqual({ status: "accepted", value: undefined });
    expect(emulator.requests().counts["volume.delete"]).toBe(2);
  });

  test("a read gets through garbage, truncation, HTML and dropped connections", async () => {
    const { client, emulator } = await start();
    for (const kind of ["garbage", "truncate", "html", "drop-before"] as const) {
      emulator.setFaults([{ operation: "vm.list", kind, count: 2 }]);
      expect(await client.listVms()).toEqual({ status: "accepted", value: [] });
    }
  });
});

describe("doctor", () => {
  test("finds what the service has, and sends no write", async () => {
    const { client, emulator } = await start();
    const report = await diagnoseService(client, builtInDialect);
    const verdicts = Object.fromEntries(report.operations.map(({ operation, verdict }) => [operation, verdict]));
    expect(verdicts).toMatchObject({
      "vm.list": "found",
      "flavor.list": "found",
      "image.list": "found",
      "region.list": "found",
      "group.list": "found",
      "group.get": "found",
      "volume.list": "found",
    });
    expect(emulator.requests().log.every(({ method }) => method === "GET")).toBe(true);
  });

  test("finds none of them on a service with the documented operations alone", async () => {
    const { client } = await start({ contractOnly: true, with: [] });
    const report = await diagnoseService(client, builtInDialect);
    expect(report.operations.filter(({ verdict }) => verdict === "found")).toEqual([]);
    expect(report).toMatchObject({ reachable: true, credential: "accepted" });
  });
});
