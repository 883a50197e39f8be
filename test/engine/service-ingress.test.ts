/** A rule that lets traffic in, and that the service puts on a new group by itself: never a difference, and always told. */
import { afterEach, expect, it } from "vitest";
import { toldAtTheEnd } from "../../reconciler/cli/run-end";
import type { Plan } from "../../reconciler/core/plan/plan";
import { type BenchWorld, desiredOf, startBenchWorld, token } from "../support/bench-world";
import { startMeddlingProxy } from "../support/own-place";

let world: BenchWorld;
afterEach(() => world.close());

/** The service adds port 22 from everywhere to each group that is made, and its answer shows no rules. */
const front = async (emulator: string) => {
  const proxy = await startMeddlingProxy(emulator);
  proxy.meddle(async ({ method, path }, forward) => {
    const answer = await forward();
    if (method === "POST" && path === "/api/v1/security-group") {
      const said = JSON.parse(answer.body);
      const { rules: _, ...made } = said.data ?? said;
      await fetch(`${emulator}/api/v1/security-group/${made.id}/rule`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "22" }),
      });
      return { ...answer, body: JSON.stringify({ data: made }) };
    }
    return answer;
  });
  return proxy;
};
const file = (...ports: readonly number[]) =>
  desiredOf(
    JSON.stringify({
      ...{ version: 1, project: "acme" },
      groups: { web: { rules: ports.map((dst_port) => ({ protocol: "tcp", dst_port })) } },
    }),
  );
const told = {
  severity: "warning",
  code: "plan/service-ingress",
  address: "group.web",
  summary: expect.stringContaining("(ingress tcp 22 from anywhere (IPv4))"),
  fix: expect.stringContaining("declare it in the rules of group.web"),
};
const ofIngress = ({ diagnostics }: Plan) => diagnostics.filter(({ code }) => code === told.code);

it("is named by the end of the run that made the group and by every plan, until the file declares it", async () => {
  world = await startBenchWorld({ front });
  const { report } = await world.apply(file(443));
  if (report === undefined) throw new Error("nothing was run");
  expect([report.counts.failed, toldAtTheEnd(report)]).toEqual([0, [expect.objectContaining(told)]]);
  const again = await world.plan(file(443));
  expect([again.changes, ofIngress(again)]).toEqual([[], [expect.objectContaining(told)]]);
  const declared = await world.plan(file(443, 22));
  expect(ofIngress(declared)).toEqual([]);
});

it("is not told of a rule that the file declares and the service had made already", async () => {
  world = await startBenchWorld({ front });
  const { report } = await world.apply(file(22));
  expect([report?.counts.failed, report?.warnings]).toEqual([0, undefined]);
});
