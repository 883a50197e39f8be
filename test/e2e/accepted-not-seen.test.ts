/**
 * A service that says yes and does nothing, write by write. Nobody is told that the service matches the file, the next
 * plan tells it again, and once the service is honest one more run ends it.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dialectOperations } from "../support/bench-world";
import { jsonLines, startCli } from "../support/cli-process";
import { type Answer, done, type Exchange, json, ownMeddledPlace, said } from "../support/own-place";
import { converse } from "./json-rpc-clients";

const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];
const place = ownMeddledPlace({ with: everything, timeScale: 0 });
const { reconcile, declare, ask, state } = place;

const whole = { operations: dialectOperations({ with: everything }) };
/** One rule can be deleted, and there is no list of anything but VMs. */
const plain = { operations: dialectOperations({ with: ["group.rule.delete"] }) };

const ssh = { protocol: "tcp", dst_port: 22, remote_ip: "10.0.0.0/8" };
const https = { protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" };
const rulesOf = (body: string): Record<string, unknown>[] =>
  (JSON.parse(body).rules ?? []).map((rule: Record<string, unknown>) => ruleAnswer(rule));
const ruleAnswer = ({ direction = "ingress", protocol, dst_port, remote_ip }: Record<string, unknown>) => ({
  ...{ id: randomUUID(), direction, protocol, ether_type: "IPv4", remote_ip_prefix: remote_ip },
  ...{ port_range_min: Number(dst_port), port_range_max: Number(dst_port), description: "" },
});
const platform = ["IPv4", "IPv6"].map((ether_type) => ({ id: randomUUID(), direction: "egress", ether_type }));
const groupAnswer = ({ body }: Exchange): Answer => {
  const { name, description = "" } = JSON.parse(body);
  return json({ data: { id: randomUUID(), name, description, rules: [...rulesOf(body), ...platform] } });
};
const yes = (): Answer => json({ data: "ok" });

interface Lie {
  readonly title: string;
  /** What is swallowed. */
  readonly write: RegExp;
  readonly before?: object;
  readonly after: object;
  readonly answer?: (exchange: Exchange) => Answer | Promise<Answer>;
  /** The command that sends it. */
  readonly words?: readonly string[];
  readonly exit: number;
  /** What ends it, before or with the last apply. */
  readonly flags?: readonly string[];
  readonly settle?: readonly string[];
  /** Nothing is left for the next plan to tell. */
  readonly ends?: true;
  /** It takes a list of groups, or a read of one, to see it. */
  readonly needsHead?: true;
}

const vm = (fields: object = {}) => ({ vms: { db: { name: "database", ...fields } } });
const attached = (fields: object = {}) => ({
  ...vm(),
  volumes: { data: { size: 5, attach_to: "db", ...fields } },
});
const group = (...rules: object[]) => ({ groups: { web: { rules } } });
const image = "debian-12";

const lies: readonly Lie[] = [
  {
    ...{ title: "vm.create", write: /POST \/api\/v1\/vm\/create/, after: vm(), exit: 1 },
    settle: ["state", "resolve", "vm.db", "--not-created"],
  },
  { title: "vm.rename", write: /POST .*\/vm\/rename/, before: vm(), after: vm({ name: "archive" }), exit: 4 },
  { title: "vm.stop", write: /POST .*\/vm\/stop/, before: vm(), after: vm({ power: "stopped" }), exit: 4 },
  {
    ...{ title: "vm.start", write: /POST .*\/vm\/start/, before: vm({ power: "stopped" }) },
    ...{ after: vm({ power: "running" }), exit: 1 },
  },
  { title: "vm.rebuild", write: /POST .*\/vm\/rebuild/, before: vm(), after: vm({ image_id: image }), exit: 1 },
  {
    title: "vm.resize",
    write: /POST .*\/vm\/resize\/[^/]*$/,
    before: vm(),
    after: vm({ flavor_id: "m1.large" }),
    exit: 1,
  },
  { title: "vm.resize.confirm", write: /POST .*confirm/, before: vm(), after: vm({ flavor_id: "m1.large" }), exit: 1 },
  {
    ...{
      title: "vm.snapshot",
      write: /POST .*\/vm\/snapshot/,
      before: vm({ lifecycle: { snapshot_before: ["rebuild"] } }),
    },
    ...{ after: vm({ image_id: image, lifecycle: { snapshot_before: ["rebuild"] } }), exit: 1 },
    ...{ answer: () => json({ data: { image_id: randomUUID() } }) },
    settle: ["state", "resolve", "vm.db", "--not-created"],
  },
  {
    ...{
      title: "vm.reboot",
      write: /POST .*\/vm\/reboot/,
      before: vm(),
      after: vm(),
      words: ["vm", "reboot", "vm.db"],
    },
    ...{ exit: 0, ends: true },
  },
  {
    ...{ title: "vm.delete", write: /DELETE .*\/vm\/delete/, before: { ...vm(), groups: { web: {} } }, exit: 1 },
    ...{ after: { groups: { web: {} } }, answer: () => json({ data: { message: "ok", preserved_volumes: [] } }) },
  },
  {
    ...{ title: "volume.create", write: /POST .*\/volume\/create/, exit: 4 },
    ...{ before: { volumes: { kept: { size: 1 } } }, after: { volumes: { kept: { size: 1 }, data: { size: 5 } } } },
    answer: ({ body }) => json({ data: { id: randomUUID(), ...JSON.parse(body), status: "available" } }),
    flags: ["--recreate", "volume.data"],
  },
  { title: "volume.attach", write: /POST .*\/volume\/attach/, after: attached(), exit: 1 },
  {
    ...{ title: "volume.detach", write: /POST .*\/volume\/detach/, before: attached(), exit: 1 },
    ...{ after: { ...vm(), volumes: { data: { size: 5 } } } },
  },
  {
    ...{
      title: "volume.resize",
      write: /POST .*\/volume\/resize/,
      before: { volumes: { data: { size: 5 } } },
      exit: 1,
    },
    after: { volumes: { data: { size: 6 } } },
  },
  {
    ...{
      title: "volume.delete",
      write: /DELETE .*\/volume\//,
      before: { volumes: { data: { size: 5 }, kept: { size: 1 } } },
    },
    ...{ after: { volumes: { kept: { size: 1 } } }, exit: 1 },
  },
  {
    ...{ title: "group.create", write: /POST .*\/security-group$/, answer: groupAnswer, exit: 4 },
    ...{ before: { groups: { kept: {} } }, after: { groups: { kept: {}, web: { rules: [https] } } } },
    flags: ["--recreate", "group.web"],
  },
  {
    ...{
      title: "group.create, made without its rules",
      write: /POST .*\/security-group$/,
      after: group(https),
      exit: 4,
    },
    async answer(exchange) {
      const made = await ask("POST", "/api/v1/security-group", { name: JSON.parse(exchange.body).name });
      const { data } = JSON.parse(groupAnswer(exchange).body);
      return json({ data: { ...data, id: made.id } });
    },
  },
  {
    ...{ title: "group.update", write: /PATCH .*\/security-group/, before: group(https), exit: 4, needsHead: true },
    ...{ after: { groups: { web: { name: "front", description: "to all", rules: [https] } } } },
  },
  {
    ...{ title: "group.delete", write: /DELETE .*\/security-group\/[^/]*$/, exit: 1 },
    ...{ before: { groups: { web: {}, kept: {} } }, after: { groups: { kept: {} } } },
  },
  {
    ...{ title: "group.rule.create", write: /POST .*\/rule/, before: group(https), after: group(https, ssh), exit: 4 },
    answer: ({ body }) => json({ data: ruleAnswer(JSON.parse(body)) }),
  },
  {
    ...{ title: "group.rule.create, said to exist", write: /POST .*\/rule/, before: group(https), exit: 4 },
    ...{ after: group(https, ssh) },
    answer: () =>
      json({ error: { code: 409, message: "This rule already exists in the selected security group." } }, 409),
  },
  { title: "group.rule.delete", write: /DELETE .*\/rule\//, before: group(https, ssh), after: group(https), exit: 4 },
];

const timing = { poll_interval: "5ms", discovery_window: "100ms", vm_create_timeout: "300ms" };
const apply = (...flags: readonly string[]) =>
  reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all", ...flags);

describe.each([
  ["every operation", whole, lies],
  ["no list but that of VMs", plain, lies.filter(({ needsHead }) => needsHead !== true)],
] as const)("with %s, a service that says yes and does nothing", (_, dialect, told) => {
  it.each(told)("is not believed: $title", async ({ write, before, after, words, exit, answer = yes, ...then }) => {
    // VMs take their time in the honest part.
    const patient = { dialect, timing: { ...timing, vm_create_timeout: "10s" } };
    if (before !== undefined) {
      declare(before, patient);
      await done(apply());
    }
    declare(after, { dialect, timing });
    let swallowed = 0;
    place.proxy.meddle((exchange, forward) => {
      if (!write.test(`${exchange.method} ${exchange.path}`)) return forward();
      swallowed++;
      return Promise.resolve(answer(exchange));
    });
    const lied = await (words === undefined ? apply("--json") : reconcile(...words));
    expect(swallowed, lied.stdout).toBeGreaterThan(0);
    expect([lied.exitCode, said(lied)], lied.stdout).toEqual([exit, expect.not.stringContaining("matches the file")]);
    if (then.ends === true) {
      expect(said(lied)).toContain("as far as this service can be looked at");
      return;
    }
    if (exit === 4) {
      const lines = jsonLines(lied.stdout);
      const { unseen, diagnostics } = lines.at(-1)!;
      expect(unseen).toBeGreaterThan(0);
      expect(diagnostics.map(({ code }: { code: string }) => code)).toContain("apply/not-seen");
      expect(lines.some(({ type, effect }) => type === "step" && effect === "unseen")).toBe(true);
      const planned = await reconcile("plan");
      expect(said(planned)).toContain("apply/not-seen");
      expect(said(await reconcile("drift"))).toContain("apply/not-seen");
      expect(said(await reconcile("state", "list"))).toContain("accepted and not seen");
    }
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).not.toBe(0);
    place.proxy.meddle((_, forward) => forward());
    declare(after, patient);
    if (then.settle !== undefined) await done(reconcile(...then.settle));
    expect(said(await done(apply(...(then.flags ?? []))))).not.toContain("apply/not-seen");
    const ended = await reconcile("plan", "--detailed-exitcode");
    expect([ended.exitCode, said(ended)]).toEqual([0, expect.not.stringContaining("apply/not-seen")]);
    expect(JSON.stringify(state().resources)).not.toContain('"looked"');
  });
});

describe("a VM that was to have no public address, and has one", () => {
  const makesPublic = (onCreated: () => void = () => undefined) =>
    place.proxy.meddle(async ({ method, path, body }, forward) => {
      if (!path.endsWith("/vm/create")) return forward();
      await ask(method, path, { ...JSON.parse(body), skip_floating_ip: false });
      onCreated();
      return json({ data: "accepted" }, 202);
    });
  const hides = () =>
    place.proxy.meddle(async (_, forward) => {
      const answer = await forward();
      return { ...answer, body: answer.body.replaceAll(/"floating_ip":"[^"]*"/g, '"floating_ip":null') };
    });
  const isTold = (ran: { readonly stdout: string; readonly stderr: string }) => {
    expect(said(ran)).toContain("apply/not-seen");
    expect(said(ran)).toContain("skip_floating_ip: true; its address is 198.18.");
    expect(said(ran)).not.toContain("matches the file");
  };

  it("is told by the run and by each plan until the address is off", async () => {
    declare(vm({ skip_floating_ip: true }), { dialect: whole, timing });
    makesPublic();
    const ran = await apply();
    expect(ran.exitCode, said(ran)).toBe(4);
    isTold(ran);
    isTold(await reconcile("plan"));
    isTold(await done(apply()));
    hides();
    await done(apply());
    expect(said(await reconcile("plan"))).toContain("Nothing to do: the service matches the file");
  });

  it("is told by the run that waits for it after one that did not see it built", async () => {
    declare(vm({ skip_floating_ip: true }), { dialect: whole, timing });
    let looks = Number.POSITIVE_INFINITY;
    const isBuilding = () =>
      place.proxy.meddle(async ({ method, path }, forward) => {
        const answer = await forward();
        if (method !== "GET" || !/\/vm\//.test(path) || looks-- <= 0) return answer;
        return { ...answer, body: answer.body.replaceAll("ACTIVE", "BUILD") };
      });
    makesPublic(isBuilding);
    expect((await apply()).exitCode).toBe(1);
    looks = 2;
    const next = await apply();
    expect(next.exitCode, said(next)).toBe(4);
    isTold(next);
  });
});

describe("a service that does what it accepted a while later", () => {
  it.each(lies.filter(({ exit, write }) => exit === 4 && !/create|security-group\$/.test(write.source)))(
    "is waited for, and asked once: $title",
    async ({ write, before, after, answer = yes }) => {
      const service = { dialect: whole, timing: { ...timing, discovery_window: "5s", vm_create_timeout: "10s" } };
      declare(before ?? {}, service);
      await done(apply());
      declare(after, service);
      let sent = 0;
      place.proxy.meddle((exchange, forward) => {
        if (!write.test(`${exchange.method} ${exchange.path}`)) return forward();
        sent++;
        setTimeout(() => void forward().catch(() => undefined), 300);
        return Promise.resolve(answer(exchange));
      });
      const ran = await done(apply("--json"));
      expect([sent, jsonLines(ran.stdout).at(-1)!.unseen]).toEqual([1, 0]);
      expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    },
  );
});

describe("at the other doors, a rule that was accepted and does not show", () => {
  const service = { dialect: whole, timing };
  const swallowRules = (): void =>
    place.proxy.meddle((exchange, forward) =>
      exchange.method === "POST" && exchange.path.endsWith("/rule")
        ? Promise.resolve(json({ data: ruleAnswer(JSON.parse(exchange.body)) }))
        : forward(),
    );

  it("fails a round of watch --apply, and the next one that is told the truth is well", async () => {
    declare(group(https), service);
    await done(apply());
    declare(group(https, ssh), service);
    swallowRules();
    const words = ["watch", "--apply", "--interval", "200ms", "--listen", "none", "--json"];
    const watching = startCli(words, place.surroundings(place.proxy.url));
    const round = (what: string, isIt: (line: Record<string, unknown>) => boolean) =>
      watching.says(what, ({ stdout }) => jsonLines(stdout).find((line) => line.type === "round" && isIt(line)));
    expect(JSON.stringify(await round("a round", () => true))).toContain("does not show it (rule: ingress tcp 22");
    place.proxy.meddle((_, forward) => forward());
    await round("a round that corrects it", (line) => JSON.stringify(line).includes("applied"));
    watching.child.kill("SIGINT");
    await watching.finished;
  });

  it("wipes no disk a second time unattended, where a rebuild was accepted and its image does not show", async () => {
    declare(vm(), service);
    await done(apply());
    declare(vm({ image_id: image }), service);
    let rebuilt = 0;
    place.proxy.meddle((exchange, forward) => {
      if (!exchange.path.includes("/vm/rebuild")) return forward();
      rebuilt++;
      return Promise.resolve(yes());
    });
    const words = ["watch", "--apply", "--allow-data-loss", "--interval", "100ms", "--listen", "none", "--json"];
    const watching = startCli(words, place.surroundings(place.proxy.url));
    const blocked = await watching.says("a round that is blocked", ({ stdout }) =>
      jsonLines(stdout).find((line) => line["type"] === "round" && line["result"] === "blocked"),
    );
    expect(blocked["why"]).toMatch(
      /is wiped by the rebuild: reconcile apply --allow-loss vm\.db .*by a person who has/,
    );
    watching.child.kill("SIGINT");
    await watching.finished;
    expect(rebuilt).toBe(1);
    expect(said(await reconcile("plan"))).toContain("did not show it (image_id: debian-12)");
    place.proxy.meddle((_, forward) => forward());
    declare(vm({ image_id: image }), { ...service, timing: { ...timing, vm_create_timeout: "10s" } });
    await done(apply());
    expect(JSON.stringify(state().resources)).not.toContain('"looked"');
  });

  it("keeps an undo from saying that it is done", async () => {
    declare(group(https, ssh), service);
    await done(apply());
    declare(group(https), service);
    await done(apply());
    swallowRules();
    const undone = await reconcile("undo", "last", "-y");
    expect([undone.exitCode, said(undone)]).toEqual([4, expect.stringContaining("not all of it is seen")]);
    place.proxy.meddle((_, forward) => forward());
    declare(group(https, ssh), service);
    await done(apply());
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

describe("a write that nobody can look at", () => {
  it("ends well, and is told as that by the run, the plan, the drift, the state and the history", async () => {
    const service = { dialect: plain, timing };
    declare(group(https), service);
    await done(apply());
    declare({ groups: { web: { name: "front", rules: [https] } } }, service);
    place.proxy.meddle((exchange, forward) => (exchange.method === "PATCH" ? Promise.resolve(yes()) : forward()));
    const ran = await done(apply());
    expect(said(ran)).toContain("Done, as far as this service can be looked at");
    expect(said(ran)).toContain("nobody can see whether it did it (name: front)");
    expect(said(ran)).not.toContain("matches the file");
    for (const words of [["plan", "--detailed-exitcode"], ["drift"]])
      expect(said(await done(reconcile(...words)))).toContain("plan/not-shown");
    const blind = "Nothing to do as far as this service can be looked at: what it shows matches the file (1 resource).";
    for (const command of ["plan", "apply"]) expect((await done(reconcile(command))).stdout).toContain(blind);
    declare({ groups: { web: { name: "front", rules: [https] } }, volumes: { data: { size: 5 } } }, service);
    expect((await done(apply())).stdout).toContain("Done: what the service shows matches the file (1 step done");
    expect(said(await done(reconcile("state", "show", "group.web")))).toContain(
      "name: front (accepted; nobody can look",
    );
    expect(said(await done(reconcile("history")))).toContain("accepted and not seen: group.web: name: front");
    declare({ groups: { web: { name: "front", rules: [https] } } }, { dialect: whole, timing });
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(2);
    place.proxy.meddle((_, forward) => forward());
    await done(apply());
    expect(said(await done(reconcile("plan")))).not.toContain("plan/not-shown");
  });
});

describe("a look that fails", () => {
  const failing: Readonly<Record<string, Answer>> = {
    "a credential that ended": json({ error: { code: 401, message: "token expired" } }, 401),
    "a right that ended": json({ error: { code: 403, message: "not allowed" } }, 403),
    "an answer in another form": json({ what: "ever" }),
  };
  const two = {
    volumes: { kept: { size: 1 }, data: { size: 5 } },
    groups: { kept: {}, web: { rules: [https] } },
  };
  const [noVolume, noGroup] = [
    { ...two, volumes: { kept: { size: 1 } } },
    { ...two, groups: { kept: {} } },
  ];
  const settings = Object.entries(failing).flatMap(([answer, given]) => [
    [answer, "volume", noVolume, plain, given] as const,
    [answer, "group in a list", noGroup, whole, given] as const,
    [answer, "group by its rules", noGroup, plain, given] as const,
  ]);
  /** It says yes to what changes something, and nothing can be read afterwards. */
  const swallowAndFail = (answer: Answer): void => {
    let isSent = false;
    place.proxy.meddle((exchange, forward) => {
      if (exchange.method === "GET") return isSent ? Promise.resolve(answer) : forward();
      isSent = true;
      return Promise.resolve(yes());
    });
  };

  it.each([
    ...settings,
    ["an error of the service", "group in a list", noGroup, whole, json({ error: { code: 500 } }, 500)] as const,
  ])("is no sign that it is gone: %s, %s", async (_, __, after, dialect, answer) => {
    const service = { dialect, timing };
    declare(two, service);
    await done(apply());
    const before = Object.keys(state().resources);
    declare(after, service);
    swallowAndFail(answer);
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("the service accepted the delete")]);
    expect(Object.keys(state().resources)).toEqual(before);
    place.proxy.meddle((_, forward) => forward());
    await done(apply());
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    const { volumes, groups } = place.emulator.dump();
    expect([...volumes, ...groups].filter(({ name }) => name === "data" || name === "web")).toHaveLength(1);
  });

  const volume = { volumes: { data: { size: 5 } } };
  const bigger = { volumes: { data: { size: 6 } } };
  const loose = { ...vm(), ...volume };
  const hidden = { volume: { attached_to: [] }, vm: { volumes: [] } };
  it.each([
    ["a rebuild, no image", { vm: { image: [] } }, vm(), vm({ image_id: image }), 0, "(its new image_id)"],
    ["a resize, no flavor", { vm: { flavor: [] } }, vm(), vm({ flavor_id: "m1.large" }), 0, "(its new flavor_id)"],
    ["a grow, no size", { volume: { size: [] } }, volume, bigger, 0, "(size: 6)"],
    ["an attach, no VM and no volumes", hidden, loose, attached(), 0, "(attach_to: VM"],
    ["a detach, no VM and no volumes", hidden, attached(), loose, 0, "(that it is off VM"],
    ["an attach, no VM", { volume: { attached_to: [] } }, loose, attached(), 4, "looked for in the list of VMs"],
    ["a detach, no VM", { volume: { attached_to: [] } }, attached(), loose, 4, "looked for in the list of VMs"],
  ])("is told as that where the records have no field for it: %s", async (_, records, before, after, exit, told) => {
    const service = { dialect: { ...plain, records }, timing: { ...timing, vm_create_timeout: "10s" } };
    declare(before, service);
    await done(apply());
    declare(after, service);
    place.proxy.meddle((exchange, forward) => (exchange.method === "GET" ? forward() : Promise.resolve(yes())));
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([
      exit,
      expect.not.stringContaining("Done: the service matches the file"),
    ]);
    expect(said(ran)).toContain(told);
    expect(said(await reconcile("plan"))).toContain(exit === 0 ? "plan/not-shown" : "apply/not-seen");
  });

  it("is seen in the record of the VM where the volume's own has no VM", async () => {
    const service = { dialect: { ...plain, records: { volume: { attached_to: [] } } }, timing };
    for (const file of [loose, attached(), loose]) {
      declare(file, { ...service, timing: { ...timing, vm_create_timeout: "10s" } });
      expect(jsonLines((await done(apply("--json"))).stdout).at(-1)!.unseen).toBe(0);
    }
  });

  it.each([
    ["no VM", { volume: { attached_to: [] } }],
    ["no VM and no volumes", hidden],
  ])("is seen where a volume came off a VM that is gone by then: %s", async (_, records) => {
    const service = { dialect: { ...plain, records }, timing: { ...timing, vm_create_timeout: "10s" } };
    declare(attached(), service);
    await done(apply());
    declare(volume, service);
    expect(jsonLines((await done(apply("--json"))).stdout).at(-1)!.unseen).toBe(0);
    expect(said(await done(reconcile("plan")))).toContain("Nothing to do: the service matches the file");
  });

  it("is not as asked where a volume became larger than that", async () => {
    const service = { dialect: plain, timing };
    declare(volume, service);
    await done(apply());
    declare(bigger, service);
    place.proxy.meddle(async (exchange, forward) => {
      if (!exchange.path.includes("/volume/resize/")) return forward();
      await ask("POST", exchange.path, { size: "9" });
      return yes();
    });
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([4, expect.stringContaining("does not show it (size: 6)")]);
  });

  it("is no end of a change", async () => {
    const service = { dialect: plain, timing };
    declare({ volumes: { data: { size: 5 } } }, service);
    await done(apply());
    declare({ volumes: { data: { size: 6 } } }, service);
    swallowAndFail(failing["a credential that ended"]!);
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([4, expect.stringContaining("not all of it is seen")]);
  });
});

describe("a refusal of what the same run could read before", () => {
  const notFound = json({ error: { code: 404, message: "not found" } }, 404);
  const refused = json({ error: { code: 403, message: "not allowed" } }, 403);
  const stop = ["vm", "stop", "vm.db"];
  const grow = ["apply", "-y"];
  it.each([
    ["a list, once", stop, notFound, 1, 0],
    ["a list, from then on", stop, notFound, Number.POSITIVE_INFINITY, 4],
    ["a list that is closed, from then on", stop, refused, Number.POSITIVE_INFINITY, 4],
    ["a volume, once", grow, refused, 1, 0],
    ["a volume, from then on", grow, refused, Number.POSITIVE_INFINITY, 4],
  ] as const)("does not count as one that everybody gets: %s", async (_, words, answer, times, exit) => {
    const service = { dialect: plain, timing };
    declare({ ...vm(), volumes: { data: { size: 5 } } }, service);
    await done(apply());
    declare({ ...vm(), volumes: { data: { size: 6 } } }, service);
    let left = 0;
    place.proxy.meddle((exchange, forward) => {
      if (exchange.method !== "GET") left = times;
      return exchange.method === "GET" && left-- > 0 ? Promise.resolve(answer) : forward();
    });
    const ran = await reconcile(...words);
    expect([ran.exitCode, said(ran)]).toEqual([
      exit,
      exit === 0
        ? expect.not.stringContaining("nobody can")
        : expect.stringContaining(`cannot be read: refused (HTTP ${answer.status})`),
    ]);
  });
});

describe("a change that takes along what nobody was to change", () => {
  const service = { dialect: whole, timing };
  const drop = async (edit: (world: ReturnType<typeof place.emulator.dump>) => object): Promise<void> =>
    place.emulator.load({ ...place.emulator.dump(), ...edit(place.emulator.dump()) });
  const described = (name: string, ...rules: object[]) => ({ groups: { web: { name, description: "to all", rules } } });

  it.each([
    [
      "a rename that empties the description",
      described("front", https),
      "description: to all",
      () => drop(({ groups }) => ({ groups: groups.map((one) => ({ ...one, description: "" })) })),
    ],
    [
      "a rename that drops the rules",
      described("front", https),
      "rule: ingress tcp 443",
      () => drop(() => ({ rules: [] })),
    ],
    [
      "a rule in the place of another",
      described("web-group", https, ssh),
      "rule: ingress tcp 443",
      () => drop(({ rules }) => ({ rules: rules.filter(({ port_range_min: port }) => port !== 443) })),
    ],
  ])("is not done: %s", async (_, after, missing, edit) => {
    declare(described("web-group", https), service);
    await done(apply());
    declare(after, service);
    place.proxy.meddle(async (exchange, forward) => {
      const answer = await forward();
      if (exchange.method !== "GET") await edit();
      return answer;
    });
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([4, expect.stringContaining(`${missing}`)]);
    expect(said(ran)).toContain("which it showed before");
    place.proxy.meddle((_, forward) => forward());
    await done(apply());
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

it("rules of another group are no rules of this one, and nothing is sent for them", async () => {
  const service = { dialect: whole, timing };
  const both = { app: { rules: [ssh] }, web: { rules: [https] } };
  declare({ groups: both }, service);
  await done(apply());
  place.proxy.meddle(({ method, path }, forward) =>
    method === "GET" && path.endsWith("/rule")
      ? Promise.resolve(json({ data: place.emulator.dump().rules }))
      : forward(),
  );
  const sent = place.writes();
  const ran = await apply();
  expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("answered with rule")]);
  expect(place.writes()).toBe(sent);
});

describe("a listing that the service says it imported", () => {
  const listing = JSON.stringify({
    SecurityGroups: [
      {
        ...{ GroupName: "front", Description: "d", IpPermissionsEgress: [] },
        IpPermissions: [{ IpProtocol: "tcp", FromPort: 443, ToPort: 443, IpRanges: [{ CidrIp: "10.0.0.0/8" }] }],
      },
    ],
  });
  const report = { name: "front", id: randomUUID(), status: "created", rules_created: 1, skipped: [] };

  /** Its rules are taken away again, for good or for the first looks. */
  async function withoutRules(forward: () => Promise<Answer>, comesLater: boolean): Promise<Answer> {
    const answer = await forward();
    const whole = place.emulator.dump();
    const group = whole.groups.find(({ name }) => name === "front")?.id;
    const isImported = (one: { security_group_id: string; direction: string }): boolean =>
      one.security_group_id === group && one.direction === "ingress";
    await place.emulator.load({ ...whole, rules: whole.rules.filter((one) => !isImported(one)) });
    let looks = 0;
    place.proxy.meddle(async (_, next) => {
      if (comesLater && ++looks === 3) await place.emulator.load(whole);
      return next();
    });
    return answer;
  }

  it.each([
    ["and made nothing", "nothing", 4, /does not show it/],
    ["and made the group alone", "group", 4, /shows 0 of the 1 rules that it says it made/],
    ["and shows it later", "later", 0, /^/],
  ] as const)("%s", async (_, what, exit, expected) => {
    // Long where it comes: a busy machine needs more than the usual window for three looks.
    const window = what === "later" ? "60s" : "100ms";
    declare({}, { dialect: whole, timing: { ...timing, discovery_window: window } });
    place.write(listing, "listing.json");
    place.proxy.meddle(async ({ path }, forward) => {
      if (!path.endsWith("/import")) return forward();
      if (what === "nothing") return json({ imported: 1, failed: 0, groups: [report] });
      return withoutRules(forward, what === "later");
    });
    const ran = await reconcile("group", "import", "listing.json", "--json");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(exit);
    expect(ran.stdout).toMatch(expected);
    expect(jsonLines(ran.stdout).at(-1)).toMatchObject({ unseen: exit === 4 ? 1 : 0 });
  });
});

it("over MCP a write that does not show is an error of the tool, with what was accepted", async () => {
  declare(group(), { dialect: whole });
  await done(reconcile("apply", "-y"));
  declare(group(ssh), { dialect: whole });
  place.proxy.meddle((exchange, forward) =>
    exchange.method === "POST" ? Promise.resolve(json({ data: ruleAnswer(JSON.parse(exchange.body)) })) : forward(),
  );
  const { cwd, env } = place.surroundings(place.proxy.url);
  const yes = (schema: { properties: object }) => ({
    action: "accept",
    content: Object.fromEntries(Object.keys(schema.properties).map((name) => [name, true])),
  });
  await converse(
    cwd,
    yes,
    async (tool) => {
      const id = /^plan id: ([0-9a-f]{12})$/m.exec((await tool("plan")).text)?.[1];
      const { text, isError } = await tool("apply", { plan: id });
      expect([isError, text]).toEqual([true, expect.stringMatching(/does not show it/)]);
      expect(text).not.toContain("the service matches the file");
    },
    env,
  );
});
