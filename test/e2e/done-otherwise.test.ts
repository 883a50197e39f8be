/**
 * A service that says yes and does something else than it was asked for: another name, another size, a rule that admits
 * more. Nobody is told that the service matches the file while the next plan would say otherwise.
 */
import { expect, it } from "vitest";
import { dialectOperations } from "../support/bench-world";
import { done, ownMeddledPlace, said } from "../support/own-place";

const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];
const place = ownMeddledPlace({ with: everything, timeScale: 0 });
const { reconcile, declare } = place;
const service = {
  dialect: { operations: dialectOperations({ with: everything }) },
  timing: { poll_interval: "5ms", discovery_window: "100ms", vm_create_timeout: "1s" },
};
const https = { protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" };
const ssh = { protocol: "tcp", dst_port: 22, remote_ip: "10.0.0.0/8" };
const group = (fields: object) => ({ groups: { kept: {}, web: fields } });
const volume = (fields: object) => ({ volumes: { kept: { size: 1 }, data: fields } });
const vm = (fields: object = {}) => ({ vms: { db: { name: "database", ...fields } } });
type Body = Record<string, string> & { readonly rules: readonly object[] };

interface Case {
  readonly title: string;
  readonly write: RegExp;
  readonly before: object;
  readonly after: object;
  readonly does: (body: Body) => object;
  readonly exit: number;
}

const cases: readonly Case[] = [
  {
    ...{ title: "a group without its description", write: /POST .*security-group$/, exit: 4 },
    ...{ before: { groups: { kept: {} } }, after: group({ description: "to all", rules: [https] }) },
    does: ({ description: _, ...body }) => body,
  },
  {
    ...{ title: "a group of a shorter name", write: /POST .*security-group$/, exit: 4 },
    ...{ before: { groups: { kept: {} } }, after: group({ name: "front-of-all" }) },
    does: (body) => ({ ...body, name: "front" }),
  },
  {
    ...{ title: "a group whose rule admits everybody", write: /POST .*security-group$/, exit: 4 },
    ...{ before: { groups: { kept: {} } }, after: group({ rules: [ssh] }) },
    does: (body) => ({ ...body, rules: body.rules.map((rule) => ({ ...rule, remote_ip: "0.0.0.0/0" })) }),
  },
  {
    ...{ title: "a rule that admits everybody", write: /POST .*\/rule$/, exit: 4 },
    ...{ before: group({ rules: [https] }), after: group({ rules: [https, ssh] }) },
    does: (body) => ({ ...body, remote_ip: "0.0.0.0/0" }),
  },
  {
    ...{ title: "a new name without the new description", write: /PATCH .*security-group/, exit: 4 },
    ...{ before: group({ rules: [https] }), after: group({ name: "front", description: "d", rules: [https] }) },
    does: ({ name }) => ({ name }),
  },
  {
    ...{ title: "a volume of a shorter name", write: /POST .*volume\/create/, exit: 4 },
    ...{ before: { volumes: { kept: { size: 1 } } }, after: volume({ size: 5 }) },
    does: (body) => ({ ...body, name: "dat" }),
  },
  {
    ...{ title: "a volume of the next size there is", write: /POST .*volume\/create/, exit: 4 },
    ...{ before: { volumes: { kept: { size: 1 } } }, after: volume({ size: 5 }) },
    does: (body) => ({ ...body, size: "9" }),
  },
  {
    ...{ title: "a volume that grows less", write: /POST .*volume\/resize/, exit: 1 },
    ...{ before: volume({ size: 5 }), after: volume({ size: 9 }) },
    does: (body) => ({ ...body, size: "7" }),
  },
  {
    ...{ title: "a VM of another flavor", write: /POST .*vm\/create/, exit: 1 },
    ...{ before: {}, after: vm() },
    does: (body) => ({ ...body, flavor_id: "m1.large" }),
  },
  {
    ...{ title: "a VM whose data volume is of the next size there is", write: /POST .*vm\/create/, exit: 4 },
    ...{ before: {}, after: vm() },
    does: (body) => ({ ...body, size: "99" }),
  },
  {
    ...{ title: "a VM resized to another flavor", write: /POST .*vm\/resize\/[^/]*$/, exit: 1 },
    ...{ before: vm(), after: vm({ flavor_id: "m1.large" }) },
    does: (body) => ({ ...body, flavor: "m1.medium" }),
  },
  {
    ...{ title: "a VM rebuilt from its old image", write: /POST .*vm\/rebuild/, exit: 1 },
    ...{ before: vm(), after: vm({ image_id: "debian-12" }) },
    does: () => ({ image: "ubuntu-24.04" }),
  },
  {
    ...{ title: "a VM of a shorter name", write: /POST .*vm\/rename/, exit: 4 },
    ...{ before: vm(), after: vm({ name: "archive" }) },
    does: (body) => ({ ...body, name: "arch" }),
  },
];

it.each(cases)("makes $title", async ({ write, before, after, does, exit }) => {
  const apply = () => reconcile("apply", "-y", "--allow-data-loss", "--allow-empty", "--confirm-flush", "all");
  declare(before, { ...service, timing: { ...service.timing, vm_create_timeout: "10s" } });
  await done(apply());
  declare(after, service);
  let met = 0;
  place.proxy.meddle((exchange, forward) => {
    if (!write.test(`${exchange.method} ${exchange.path}`)) return forward();
    met++;
    return forward(JSON.stringify(does(JSON.parse(exchange.body))));
  });
  const ran = await apply();
  expect(met, said(ran)).toBeGreaterThan(0);
  expect([ran.exitCode, said(ran)]).toEqual([exit, expect.not.stringContaining("matches the file")]);
  place.proxy.meddle((_, forward) => forward());
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).not.toBe(0);
});

it("a volume that fails after its create was answered is told, with its state", async () => {
  place.proxy.meddle(async ({ method, path }, forward) => {
    const answer = await forward();
    const isLook = method === "GET" && path.includes("/volume/");
    return isLook ? { ...answer, body: answer.body.replaceAll('"available"', '"error"') } : answer;
  });
  declare({ volumes: { data: { size: 5 } } }, service);
  const ran = await reconcile("apply", "-y");
  expect([ran.exitCode, said(ran)]).toEqual([4, expect.stringContaining("shows the failed state error")]);
  expect(said(await reconcile("plan"))).toContain("is in the failed state error");
});
