/** A service that leaves the rules which name a deleted group, where others drop them with it. */
import { expect, it } from "vitest";
import { done, json, ownMeddledPlace } from "../support/own-place";

interface Rule {
  readonly id: string;
  readonly security_group_id: string;
  readonly remote_group_id: string | null;
}

const place = ownMeddledPlace();
const { reconcile } = place;

function leaveRules(): readonly Rule[] {
  const left: Rule[] = [];
  place.proxy.meddle(async ({ method, path }, forward) => {
    const id = /security-group\/([^/]+)/.exec(path)?.[1];
    if (method === "DELETE" && id !== undefined)
      left.push(...place.emulator.dump().rules.filter(({ remote_group_id }) => remote_group_id === id));
    const answer = await forward();
    if (method !== "GET" || !path.endsWith("/rule") || answer.status !== 200) return answer;
    const { data } = JSON.parse(answer.body) as { readonly data: readonly Rule[] };
    return json({ data: [...data, ...left.filter((rule) => rule.security_group_id === id)] });
  });
  return left;
}

const declare = (port: number) =>
  place.declare({
    groups: {
      front: {
        rules: [...[80, port].map((dst_port) => ({ protocol: "tcp", dst_port, remote_ip: "10.0.0.0/8" })), to("back")],
      },
      back: { rules: [to("front")] },
    },
  });
const to = (remote_group: string) => ({ protocol: "tcp", dst_port: 5432, remote_group });

it("two groups that name each other are replaced once, and the run after it changes nothing", async () => {
  const left = leaveRules();
  declare(443);
  await done(reconcile("apply", "--auto-approve"));
  declare(8443);
  await done(reconcile("apply", "--auto-approve"));
  expect(left.length).toBeGreaterThan(0);
  const before = place.writes();
  const again = await done(reconcile("apply", "--auto-approve"));
  expect(again.stdout).toContain("Nothing to do");
  const planned = await reconcile("plan", "--detailed-exitcode");
  expect(planned.exitCode).toBe(0);
  expect(planned.stdout + planned.stderr).toContain("plan/rule-idle");
  expect(place.writes()).toBe(before);
  // The next replacement of the other one does not bring the first back.
  declare(9443);
  await done(reconcile("apply", "--auto-approve"));
  await done(reconcile("plan", "--detailed-exitcode"));
  expect(place.state().resources["group.front"].buried).toHaveLength(2);
});
