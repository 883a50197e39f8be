/** A name that a command made up is a label: the service's own name is never changed to it. */
import { expect, it } from "vitest";
import { ownPlace, retold, said, standAtTheDoor } from "../support/own-place";

const place = ownPlace();
const { reconcile, read, write } = place;

it("a group that was pulled without its name is not renamed to its label, and is replaced under its own name once that is said", async () => {
  const rule = (port: number) => ({
    ...{ direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: String(port) },
    remote_ip: "198.51.100.0/24",
  });
  await place.ask("POST", "/api/v1/security-group", { name: "legacy-web", rules: [rule(80), rule(443)] });
  const group = () => place.emulator.dump().groups.filter(({ name }) => name !== "default");
  const id = group()[0]?.id ?? "";
  const pulled = await reconcile(
    "pull",
    "--group",
    id,
    "--project",
    "acme",
    "--region",
    "in-west-1",
    "--user-id",
    "1042",
    "--out",
    "reconcile.yaml",
  );
  expect([pulled.exitCode, pulled.stderr]).toEqual([0, expect.anything()]);
  const imported = await reconcile("apply", "-y");
  expect([imported.exitCode, said(imported)]).toEqual([0, expect.stringContaining(`take over group ${id}`)]);
  const text = read("reconcile.yaml");
  const without = text
    .split("\n")
    .filter((line) => !/dst_port: "?80"?\b/.test(line))
    .join("\n");
  expect(without).not.toBe(text);
  write(without);
  const writes = place.writes();
  const refused = await reconcile("apply", "-y");
  expect([refused.exitCode, said(refused)]).toEqual([1, expect.stringContaining("nobody has said what it is called")]);
  expect([place.writes(), group().map(({ name }) => name)]).toEqual([writes, ["legacy-web"]]);
  // Where the replacement is asked for, no rule is what it is for.
  write(text);
  const [, key] = /^ {2}(group-\w+):$/m.exec(text) ?? [];
  const asked = await reconcile("plan", "--replace", `group.${key}`);
  expect(said(asked)).toContain("name: …, or plan without --replace");

  write(without.replace(/^( {2}group-\w+:)$/m, "$1\n    name: legacy-web"));
  const done = await reconcile("apply", "-y");
  expect(done.exitCode, said(done)).toBe(0);
  expect(group().map(({ name }) => name)).toEqual(["legacy-web"]);
  expect(group()[0]?.id).not.toBe(id);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

const bare = retold({
  volume: ({ name: _, ...record }) => record,
  group: ({ name: _, ...record }) => record,
});

it("a volume and a group that were pulled without their names keep them when the service begins to show names", async () => {
  const lists =
    'volume.list: { method: GET, path: /api/v1/volume/list }, group.list: { method: GET, path: /api/v1/security-group }, group.get: { method: GET, path: "/api/v1/security-group/{id}" }';
  const head = `service: { timing: { poll_interval: 5ms }, dialect: { operations: { ${lists} } } }\n`;
  const here = await standAtTheDoor({}, { with: ["volume.list", "group.list", "group.get"] });
  try {
    here.write(
      "theirs.yaml",
      `version: 1\nproject: acme\nregion: in-west-1\n${head}volumes: { legacy-data: { size: 3 } }\ngroups: { legacy-web: {} }\n`,
    );
    expect((await here.reconcile("apply", "theirs.yaml", "-y", "--state", "theirs.json")).exitCode).toBe(0);
    const named = () => {
      const { volumes, groups } = here.emulator.dump();
      return [...volumes, ...groups].map(({ id, name }) => `${id} ${name}`);
    };
    const before = named();
    const ids = [...here.emulator.dump().volumes, ...here.emulator.dump().groups];
    const idOf = (name: string) => ids.find((one) => one.name === name)?.id ?? "";
    here.door.become({ tell: bare });
    const which = ["--volume", idOf("legacy-data"), "--group", idOf("legacy-web")];
    const given = ["--project", "acme", "--region", "in-west-1", "--user-id", "1042"];
    const pulled = await here.reconcile("pull", ...given, ...which, "--out", "reconcile.yaml");
    expect(pulled.exitCode, pulled.stderr).toBe(0);
    const applied = await here.reconcile("apply", "-y");
    expect(applied.exitCode, applied.stderr).toBe(0);
    const exported = await here.reconcile("export", "pulumi", "--out", "program");
    expect([exported.exitCode, exported.stderr.match(/nobody has said what it is called/g)?.length]).toEqual([0, 2]);
    here.write("service.yaml", `version: 1\n${head}`);
    const files = ["-f", "reconcile.yaml", "-f", "service.yaml"];
    here.door.become({});
    for (let run = 1; run <= 2; run++) {
      const ran = await here.reconcile("apply", ...files, "-y", "--allow-data-loss");
      expect(ran.exitCode, ran.stderr).toBe(0);
      const plan = await here.reconcile("plan", ...files, "--detailed-exitcode");
      expect(plan.exitCode, plan.stdout).toBe(0);
    }
    expect(named()).toEqual(before);
  } finally {
    await here.close();
  }
});
