/** What the doctor writes for deployments that differ wherever the contract is silent, and what is left to a person. */
import { writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { layOver, saysMore } from "../../reconciler/dialect/lay-over";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import type { DoctorPorts } from "../../reconciler/engine/doctor/look";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import type { HttpServiceClient } from "../../reconciler/service/http-client";
import { projectOf } from "../support/bench-world";
import { deployments } from "../support/deployments/all";
import { clientAt, doctorPortsAt, worldBehind } from "../support/deployments/doctor-here";
import { liveThrough } from "../support/deployments/life";
import { over } from "../support/deployments/over";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A project in use: several of everything, one volume attached and one not. */
const inUse = projectOf({
  vms: { web: {}, base: {}, cache: { power: "stopped" } },
  volumes: { data: { size: 20, attach_to: "base", flush: { via: "ask" } }, spare: { size: 5 }, third: { size: 7 } },
  groups: {
    front: { description: "first", rules: [{ protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" }] },
    back: {},
    lone: {},
  },
});

async function stand({ deployment, dialect }: (typeof deployments)[number]) {
  const standing = await worldBehind(deployment, { dialect: readDialectText(dialect, "dialect.yaml").dialect });
  closers.push(() => standing.world.close());
  await standing.world.apply(inUse);
  return standing;
}

const clientFor = (url: string, dialect: Dialect): HttpServiceClient => {
  const client = clientAt(url, dialect);
  closers.push(() => client.close());
  return client;
};

const portsFor = (url: string, dialect: Dialect): DoctorPorts =>
  doctorPortsAt(url, dialect, (other) => clientFor(url, other));

/** What each is to be read like, whatever it is called there. */
async function reading(client: HttpServiceClient) {
  const [vms, volumes, groups] = await Promise.all([client.listVms(), client.listVolumes(), client.listGroups()]);
  return {
    vms: vms.status === "accepted" ? vms.value.map(({ kind: _, status: __, ...vm }) => vm).sort(byId) : vms,
    volumes:
      volumes.status === "accepted"
        ? volumes.value.map(({ kind: _, status: __, ...volume }) => volume).sort(byId)
        : volumes,
    groups:
      groups.status === "accepted"
        ? groups.value.map(({ id, name, description }) => ({ id, name, description })).sort(byId)
        : groups,
  };
}
const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

describe.each(deployments.map((known) => [known.deployment.title, known] as const))("%s", (title, known) => {
  test("what is read by the doctor's file is what is there, and with the lines it left to a person it carries a whole life", async () => {
    const { front } = await stand(known);
    const before = front.asked.length;
    const told = readDialectText(known.before, "before.yaml").dialect;
    const report = await diagnoseService(portsFor(front.url, told), told);
    // Nothing but reads: a POST only where a person said that it is one.
    expect(front.asked.slice(before).filter((line) => !/^GET |^POST \S+\/search$/.test(line))).toEqual([]);
    const yaml = dialectYaml(report, { baseUrl: "https://cloud.example.com", date: "2026-01-01" });
    if (process.env["SHOW_LEARNT"] !== undefined)
      writeFileSync(`${process.env["SHOW_LEARNT"]}/${title.replaceAll(/\W+/g, "-")}.yaml`, yaml);
    const written = JSON.stringify(over(over(parse(known.before) ?? {}, parse(yaml)), parse(known.after) ?? {}));
    const { dialect, diagnostics } = readDialectText(written, "learnt.yaml");
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const truth = await reading(clientFor(front.url, readDialectText(known.dialect, "d.yaml").dialect));
    expect(await reading(clientFor(front.url, dialect))).toEqual(truth);

    // Started from the whole of it, nothing of that is lost, and the same is read.
    const whole = readDialectText(known.dialect, "d.yaml").dialect;
    const base = { value: parse(known.dialect), dialect: whole };
    const again = await diagnoseService(portsFor(front.url, whole), whole, { base });
    const kept = layOver(known.dialect, dialectYaml(again));
    expect(saysMore(known.dialect, kept)).toEqual([]);
    const laid = readDialectText(kept, "kept.yaml").dialect;
    expect(laid.operations).toEqual(whole.operations);
    expect(await reading(clientFor(front.url, laid))).toEqual(truth);

    // And the same file carries a project through its life, in a world of its own.
    const { world: other } = await worldBehind(known.deployment, { dialect });
    closers.push(() => other.close());
    await liveThrough(other);
  });
});
