import { describe, expect, it } from "vitest";
import type { FaultSpec } from "../../emulator";
import { countCampaign } from "../support/campaign-count";
import { recover, type Service, setStage, withoutOrphans } from "../support/stage";
import { type Story, stories } from "../support/stories";
import { type Shape, shapeOf } from "../support/world-shape";

/** Every n-th fault point is tried; 1 tries all. */
const stride = Number(process.env["FAULT_STRIDE"] ?? 60);

/** The request has its effect or not, and the answer says something else, or nothing. */
const faults: Readonly<Record<string, Omit<FaultSpec, "operation">>> = {
  "no connection": { kind: "drop-before" },
  "an answer lost": { kind: "drop-after" },
  "429 with Retry-After": { kind: "status", code: 429, retry_after: 1, when: "before" },
  "429 without Retry-After": { kind: "status", code: 429, when: "before" },
  "500 before the effect": { kind: "status", code: 500, when: "before" },
  "500 after the effect": { kind: "status", code: 500, when: "after" },
  "502 in HTML before the effect": { kind: "html", code: 502, when: "before" },
  "503 in HTML after the effect": { kind: "html", code: 503, when: "after" },
  "truncated JSON": { kind: "truncate", when: "after" },
  garbage: { kind: "garbage", when: "after" },
  "slower than the timeout": { kind: "latency", ms: 400 },
  "a stale list": { kind: "stale-list", ms: 20 },
  "permission lost": { kind: "status", code: 403, when: "before" },
  "a conflict that is none": { kind: "status", code: 409, when: "before" },
};

let point = 0;
let tried = 0;

describe.each(["everything", "built-in"] as const)(
  "one bad answer to any request is survived, and the next run finishes, with the service's %s",
  (service) => {
    for (const [title, story] of Object.entries(stories))
      it(title, async () => {
        const { expected, requests } = await undisturbed(story, service);
        const violations: string[] = [];
        const before = tried;
        for (const [name, fault] of Object.entries(faults))
          for (let nth = 0; nth < requests; nth++) {
            if (point++ % stride !== 0) continue;
            tried++;
            const spec = { ...fault, operation: "*", skip: nth, count: 1 };
            for (const problem of await goThrough(story, service, spec, expected))
              violations.push(`${name} at request ${nth + 1}: ${problem}`);
          }
        countCampaign("bad answers", tried - before, violations.length);
        expect(violations.join("\n")).toEqual("");
      }, 900_000);
  },
);

async function undisturbed(story: Story, service: Service) {
  const stage = await setStage(story, service);
  try {
    await stage.run();
    return {
      expected: shapeOf(withoutOrphans(await stage.dump(), stage.state())),
      requests: stage.world.emulator.requests().log.length,
    };
  } finally {
    await stage.close();
  }
}

async function goThrough(story: Story, service: Service, fault: FaultSpec, expected: Shape): Promise<string[]> {
  const slow = fault.kind === "latency" ? { requestTimeoutMs: 150 } : {};
  const stage = await setStage(story, service, slow);
  try {
    await stage.world.control("POST", "/faults", fault);
    const { plan, report } = await stage.run();
    const problems: string[] = [];
    const said = report?.steps.every(({ result }) => result.end === "done") === true;
    const shape = JSON.stringify(shapeOf(withoutOrphans(await stage.dump(), stage.state())));
    // That an identical rule is there already is the one refusal that is believed.
    if (said && fault.code !== 409 && shape !== JSON.stringify(expected))
      problems.push("the run called itself done, and the world is not");
    if (
      report === undefined &&
      !plan.diagnostics.some(({ severity }) => severity === "error") &&
      plan.steps.length === 0
    )
      problems.push("nothing was done, and nothing was said about it");
    await stage.world.control("DELETE", "/faults");
    if (fault.kind === "latency") await new Promise((done) => setTimeout(done, 450));
    // What takes effect after it was given up and looked for is drift like any other: nothing may be lost by it.
    const wanted = fault.kind === "latency" ? undefined : expected;
    return [...problems, ...(await recover(stage, story, wanted))];
  } finally {
    await stage.close();
  }
}
