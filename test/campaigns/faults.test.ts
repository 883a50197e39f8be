import { describe, expect, it } from "vitest";
import type { EmulatorOptions, FaultSpec } from "../../emulator";
import { type EmulatorOperation, operations } from "../../emulator/operations";
import { countCampaign } from "../support/campaign-count";
import { recover, setStage } from "../support/stage";
import { type Service, type Story, stories } from "../support/stories";
import { type Shape, shapeOf, withoutOrphans } from "../support/world-shape";

/** Every n-th fault point is tried; 1 tries all. `check` tries each kind of fault a dozen times, each at another request. */
const stride = Number(process.env["FAULT_STRIDE"] ?? 151);
/** Of the kinds of faults only those whose name has this in it. */
const chosen = process.env["FAULT_KIND"] ?? "";

interface Fault {
  readonly spec: Omit<FaultSpec, "operation" | "skip">;
  /** The requests it can strike; left out: every one. */
  readonly strikes?: (operation: EmulatorOperation) => boolean;
  /** From the chosen request on, until it is lifted for the next run; left out: that request alone. */
  readonly lasts?: true;
  readonly service?: EmulatorOptions;
  /** Where a service without lists has nothing else to go by, it is believed. */
  readonly needsLists?: true;
  /** What it leads to may differ in this way from what the undisturbed run leads to. */
  readonly apartFrom?: (shape: Shape) => unknown;
}

const lists: readonly string[] = ["vm.list", "volume.list", "group.list"] satisfies EmulatorOperation[];
const isList = (operation: EmulatorOperation): boolean => lists.includes(operation);
const hasId = (operation: EmulatorOperation): boolean => operations[operation].path.includes("{id}");
const movesVm = (operation: EmulatorOperation): boolean =>
  ["vm.create", "vm.rebuild", "vm.resize", "vm.stop", "vm.start", "vm.reboot"].includes(operation);
const pages = { strikes: isList, service: { pageSize: 1 } };

/** A failed VM is made anew: its disk is fresh, and what was to be kept of it was kept once more. */
const madeAnew = ({ images: _, vms, ...shape }: Shape): unknown => ({
  ...shape,
  vms: vms.map((vm) => ({ ...(vm as object), root_wipes: 0 })),
});

/** The request has its effect or not, and the answer says something else, or nothing; or the service is not itself. */
const faults: Readonly<Record<string, Fault>> = {
  "no connection": { spec: { kind: "drop-before" } },
  "an answer lost": { spec: { kind: "drop-after" } },
  "429 with Retry-After": { spec: { kind: "status", code: 429, retry_after: 1, when: "before" } },
  "429 without Retry-After": { spec: { kind: "status", code: 429, when: "before" } },
  "500 before the effect": { spec: { kind: "status", code: 500, when: "before" } },
  "500 after the effect": { spec: { kind: "status", code: 500, when: "after" } },
  "502 in HTML before the effect": { spec: { kind: "html", code: 502, when: "before" } },
  "503 in HTML after the effect": { spec: { kind: "html", code: 503, when: "after" } },
  "truncated JSON": { spec: { kind: "truncate", when: "after" } },
  garbage: { spec: { kind: "garbage", when: "after" } },
  "slower than the timeout": { spec: { kind: "latency", ms: 600, when: "after" } },
  "a stale list": { spec: { kind: "stale-list", ms: 20 }, strikes: isList },
  "lists stale from here on": { spec: { kind: "stale-list", ms: 20 }, strikes: isList, lasts: true },
  "a page that begins too late": { spec: { kind: "page-skips" }, ...pages },
  "a page that begins too early": { spec: { kind: "page-repeats" }, ...pages },
  "a VM that ends as failed": { spec: { kind: "vm-fails" }, strikes: movesVm, apartFrom: madeAnew },
  "refused once": { spec: { kind: "status", code: 403, when: "before" } },
  "permission lost half-way": { spec: { kind: "status", code: 403, when: "before" }, lasts: true },
  "404 on a known id": { spec: { kind: "status", code: 404, when: "before" }, strikes: hasId },
  "known ids not found from here on": {
    spec: { kind: "status", code: 404, when: "before" },
    strikes: hasId,
    lasts: true,
    needsLists: true,
  },
  "a conflict that is none": { spec: { kind: "status", code: 409, when: "before" } },
};

let point = 0;

describe.each(["everything", "built-in"] as const)(
  "one bad answer to any request is survived, and the next run finishes, with the service's %s",
  (service) => {
    for (const [title, story] of Object.entries(stories))
      it(title, async () => {
        const violations: string[] = [];
        for (const [name, fault] of Object.entries(faults)) {
          if (!name.includes(chosen) || (fault.needsLists === true && service !== "everything")) continue;
          const { expected, log } = await undisturbed(story, service, fault);
          let tried = 0;
          const before = violations.length;
          for (const spec of pointsOf(fault, log)) {
            if (point++ % stride !== 0) continue;
            tried++;
            for (const problem of await goThrough(story, service, { ...fault, spec }, expected))
              violations.push(`${name} at ${spec.operation} request ${(spec.skip ?? 0) + 1}: ${problem}`);
          }
          countCampaign(`bad answers: ${name}`, tried, violations.length - before);
        }
        expect(violations.join("\n")).toEqual("");
      });
  },
);

interface Undisturbed {
  readonly expected: Shape;
  readonly log: readonly EmulatorOperation[];
}
const known = new Map<Story, Map<unknown, Promise<Undisturbed>>>();

function undisturbed(story: Story, service: Service, fault: Fault): Promise<Undisturbed> {
  const runs = known.get(story) ?? known.set(story, new Map()).get(story)!;
  const key = `${service} ${JSON.stringify(fault.service)}`;
  if (!runs.has(key)) runs.set(key, play(story, service, fault));
  return runs.get(key)!;
}

async function play(story: Story, service: Service, fault: Fault): Promise<Undisturbed> {
  const stage = await setStage(story, service, fault.service);
  try {
    await stage.run();
    return {
      expected: shapeOf(withoutOrphans(await stage.dump(), stage.state())),
      log: stage.world.emulator.requests().log.map(({ operation }) => operation as EmulatorOperation),
    };
  } finally {
    await stage.close();
  }
}

/** Requests of one operation come in an order that stays; those of several may change places from run to run. */
function pointsOf({ spec, strikes, lasts }: Fault, log: readonly EmulatorOperation[]): FaultSpec[] {
  const counted = lasts === true ? {} : { count: 1 };
  if (strikes === undefined) return log.map((_, skip) => ({ ...spec, ...counted, operation: "*", skip }));
  const struck = log.filter(strikes);
  return [...new Set(struck)].flatMap((operation) =>
    struck.filter((one) => one === operation).map((_, skip) => ({ ...spec, ...counted, operation, skip })),
  );
}

async function goThrough(
  story: Story,
  service: Service,
  { spec, service: more, apartFrom = (shape) => shape }: Fault & { readonly spec: FaultSpec },
  expected: Shape,
): Promise<string[]> {
  const slow = spec.kind === "latency" ? { requestTimeoutMs: 250 } : {};
  const stage = await setStage(story, service, { ...more, ...slow, reach: "http" });
  try {
    await stage.world.control("POST", "/faults", spec);
    const { plan, report } = await stage.run();
    const problems: string[] = [];
    const warned = story.looks === true && plan.diagnostics.some(({ code }) => /^service\/|forbidden$/.test(code));
    const said = !warned && report?.steps.every(({ result }) => result.end === "done") === true;
    const shape = apartFrom(shapeOf(withoutOrphans(await stage.dump(), stage.state())));
    // That an identical rule is there already is the one refusal that is believed.
    if (said && spec.code !== 409 && JSON.stringify(shape) !== JSON.stringify(apartFrom(expected)))
      problems.push("the run called itself done, and the world is not");
    if (
      report === undefined &&
      !plan.diagnostics.some(({ severity }) => severity === "error") &&
      plan.steps.length === 0
    )
      problems.push("nothing was done, and nothing was said about it");
    await stage.world.control("DELETE", "/faults");
    // A VM made anew has the new flavor at once, whatever a check would have said of the resize.
    const otherwise = spec.kind === "vm-fails" && story.neverSettles === true;
    const wanted = otherwise ? undefined : (apartFrom(expected) as Shape);
    return [...problems, ...(await recover(stage, story, wanted, apartFrom as (shape: Shape) => Shape))];
  } finally {
    await stage.close();
  }
}
