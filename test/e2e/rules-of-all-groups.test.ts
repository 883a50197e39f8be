/** A service that answers for one group with the rules of all of them, and whose rules do not say whose they are. */
import { expect, it } from "vitest";
import { json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, declare } = place;

const groups = (ports: readonly number[]) =>
  Object.fromEntries(
    ports.map((port) => [`tier-${port}`, { rules: [{ protocol: "tcp", dst_port: port, remote_ip: "10.0.0.0/8" }] }]),
  );

it("is not believed, and no rule of another group is deleted", async () => {
  declare({ groups: groups([80, 443]) });
  expect((await reconcile("apply", "-y")).exitCode).toBe(0);
  const paths = Object.values<{ readonly id: string }>(place.state().resources).map(
    ({ id }) => `/api/v1/security-group/${id}/rule`,
  );
  const all = (await Promise.all(paths.map((path) => place.ask("GET", path)))).flatMap((body) => body.data ?? body);
  const nobodys = all.map(({ security_group_id: _, ...rule }) => rule);
  place.proxy.meddle(async ({ method, path }, forward) =>
    method === "GET" && paths.includes(path) ? json(nobodys) : forward(),
  );
  const sent = place.writes();
  declare({ groups: groups([80, 443, 5432]) });
  const ran = await reconcile("apply", "-y", "--allow-data-loss");
  expect([ran.exitCode, place.writes()], said(ran)).toEqual([1, sent]);
  expect(said(ran)).toContain("so that these may be the rules of all groups");
});
