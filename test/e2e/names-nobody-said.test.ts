/** A name that a command made up is a label: the service's own name is never changed to it. */
import { expect, it } from "vitest";
import { ownPlace, said } from "../support/own-place";

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
  expect((await reconcile("apply", "-y")).exitCode).toBe(0);
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

  write(without.replace(/^( {2}group-\w+:)$/m, "$1\n    name: legacy-web"));
  const done = await reconcile("apply", "-y");
  expect(done.exitCode, said(done)).toBe(0);
  expect(group().map(({ name }) => name)).toEqual(["legacy-web"]);
  expect(group()[0]?.id).not.toBe(id);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});
