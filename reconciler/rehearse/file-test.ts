/**
 * One test of a user's own file, on the embedded service in virtual time: what is given is applied, what is wanted is
 * planned, compared with what is expected, and applied too. No request leaves the process and no time is spent waiting.
 */

import { checkPlan } from "../core/findings/checks";
import { isRefused } from "../core/findings/finding";
import { findingsOfPlan } from "../core/findings/plan-findings";
import type { Closed } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import type { ExpectedPlan } from "../core/model/expected";
import { allOfKind } from "../core/model/kinds";
import type { Outputs } from "../core/model/output";
import type { Reference } from "../core/model/reference";
import { groupNamed } from "../core/model/rule";
import { PermittedPlan } from "../core/plan/permitted";
import { isEmpty, type Plan } from "../core/plan/plan";
import { deepEqual } from "../core/text/deep-equal";
import { carryOutPermitted } from "../engine/apply";
import { openStoredState, type Prepared, preparePlan } from "../engine/plan";
import { defaultTiming, type Ports } from "../engine/ports";
import { exposureOfPlan } from "../kinds/group/exposure/exposure";
import { judgeReachability } from "../kinds/group/reachability/findings";
import { owedBy } from "../kinds/vm/guest-steps";
import { createMemoryStore } from "../store/memory";
import type { StateStore, StoredState } from "../store/store";
import type { ServiceForm } from "./in-process-client";
import { newService, type VirtualMoment, virtualService } from "./virtual-service";
import { undoneLines } from "./world-lines";

/** What a test starts from: a service, and what the state remembers of it. */
export interface TestGround {
  readonly service: VirtualMoment;
  readonly stored: StoredState;
}

export const nothingGiven = (now: Date): TestGround => ({ service: newService(now), stored: { journal: [] } });

/** A desired state, and the service that its dialect speaks of. */
export interface WantedState {
  readonly desired: Closed;
  readonly form: ServiceForm;
}

export interface RunTest {
  readonly given: TestGround;
  readonly when: WantedState;
  readonly destroy: boolean;
  readonly replace: readonly string[];
  readonly expect: ExpectedPlan;
  /** Today, in UTC. */
  readonly now: Date;
}

const testHolder = { who: "reconcile test", host: "here", pid: 0, since: "", command: "reconcile test" };

/** A service for one test, on which plans are made and carried out. */
function benchOf(given: TestGround, { desired, form }: WantedState) {
  const service = virtualService(given.service, form);
  const { client, clock } = service;
  const never = new AbortController().signal;
  const store: StateStore = createMemoryStore(given.stored);
  const ports: Ports = {
    client,
    clock,
    timing: defaultTiming,
    runCommand: async () => ({ exitCode: 0, output: "" }),
    checkHealth: async () => true,
    emit: () => undefined,
  };
  return {
    /** No service is asked, so every flavor, image and region that the file names exists, and all that it names by id. */
    plan(options = {}): Promise<Prepared> {
      const vms = allOfKind(desired.resources, "vm");
      const rules = allOfKind(desired.resources, "group").flatMap((group) => group.rules);
      service.provide({
        flavors: vms.map(({ flavor }) => flavor),
        images: vms.map(({ image }) => image),
        regions: vms.map(({ region }) => region),
        vms: allOfKind(desired.resources, "volume").flatMap(({ attachTo }) => idsOf(attachTo)),
        groups: rules.flatMap((rule) => idsOf(groupNamed(rule))),
      });
      return preparePlan({ desired, store, client, options, clock, lineage: "test", observe: true });
    },
    /** Answers with a sentence when the run did not succeed. */
    async apply(prepared: Prepared): Promise<string | undefined> {
      const input = { prepared, store, ports, holder: testHolder, stop: { soft: never, hard: never }, planId: "test" };
      const report = await carryOutPermitted(PermittedPlan.onTwin(prepared.plan), input);
      return undoneLines(report).join("; ") || undefined;
    },
    now: async (): Promise<TestGround> => ({ service: service.moment(), stored: await store.read() }),
    outputs: async () => openStoredState(await store.read(), "memory", "test").state.outputs ?? {},
  };
}

const idsOf = (named: Reference | undefined): string[] => (named !== undefined && "id" in named ? [named.id] : []);

/**
 * Carries out what is given; every test with the same `given` starts from the result. A sentence: it cannot be carried
 * out.
 */
export async function carryOutGiven(wanted: WantedState, now: Date): Promise<TestGround | string> {
  const bench = benchOf(nothingGiven(now), wanted);
  const prepared = await bench.plan();
  const errors = errorText(prepared.plan);
  if (errors !== "") return `what is given cannot be planned: ${errors}`;
  const failed = await bench.apply(prepared);
  return failed === undefined ? bench.now() : `what is given cannot be applied: ${failed}`;
}

const convergenceProblem = (converges: boolean, stillToDo: string | undefined): string =>
  converges ? "it converges, and was expected not to" : `it does not converge: ${stillToDo}`;

/** The differences from what is expected, one line each; empty: the test passes. */
export async function runFileTest(test: RunTest): Promise<string[]> {
  const bench = benchOf(test.given, test.when);
  const options = {
    destroy: test.destroy ? true : undefined,
    replace: test.replace.length === 0 ? undefined : test.replace,
  };
  const prepared = await bench.plan(options);
  const { expect } = test;
  const told = toldOfPlan(prepared, test, expect);
  const problems = comparePlan(told, expect);
  if (told.exitCode !== 0 || problems.length > 0) return problems;
  if (expect.converges === undefined && expect.outputs === undefined && isEmpty(prepared.plan)) return problems;
  const failed = await bench.apply(prepared);
  const again = failed === undefined ? await bench.plan(test.destroy ? options : {}) : undefined;
  const stillToDo = failed ?? again?.plan.steps.map(({ title }) => title).join("; ");
  const converges = failed === undefined && again?.plan.steps.length === 0;
  if (converges !== (expect.converges ?? true)) problems.push(convergenceProblem(converges, stillToDo));
  if (expect.outputs !== undefined) problems.push(...otherOutputs(expect.outputs, await bench.outputs()));
  return problems;
}

/** The same of a file that is refused when it is read: there is no plan. `codes`: of its errors and warnings. */
export const compareRefusedFile = (errors: readonly string[], codes: readonly string[], expect: ExpectedPlan) =>
  comparePlan(
    { changes: [], steps: [], consents: [], owed: [], codes, reachability: "not judged", exitCode: 1, errors },
    expect,
  );

const otherOutputs = (expected: Readonly<Record<string, unknown>>, outputs: Outputs): string[] =>
  Object.entries(expected).flatMap(([name, value]) => {
    const is = outputs[name]?.value;
    if (deepEqual(is, value)) return [];
    if (outputs[name]?.sensitive === true) return [`output ${name}: is not what is expected; it is sensitive`];
    return [
      `output ${name}: expected ${JSON.stringify(value)}, is ${is === undefined ? "not there" : JSON.stringify(is)}`,
    ];
  });

const errorText = ({ diagnostics }: Plan): string =>
  diagnostics.flatMap(({ severity, summary }) => (severity === "error" ? [summary] : [])).join("; ");

/** What a plan is, in the words of a test. */
interface ToldPlan {
  readonly changes: readonly string[];
  readonly steps: readonly string[];
  readonly consents: readonly string[];
  readonly owed: readonly string[];
  readonly codes: readonly string[];
  readonly reachability: string;
  readonly exitCode: number;
  /** Why it is not carried out. */
  readonly errors: readonly string[];
}

function toldOfPlan(prepared: Prepared, { now }: RunTest, expect: ExpectedPlan): ToldPlan {
  const { plan, desired, state } = prepared;
  const exposure = exposureOfPlan(prepared);
  const { findings: broken, verdicts } = judgeReachability(prepared, { today: now.toISOString().slice(0, 10) });
  const checked = checkPlan({ desired, plan, recorded: state.resources.size });
  const findings = findingsOfPlan(
    { plan, diagnostics: plan.diagnostics, exposure, more: [...broken, ...checked] },
    { deny: desired.deny ?? [], strict: false },
  );
  const withAddresses = expect.consents?.some((one) => one.includes(" ")) === true;
  return {
    changes: plan.changes.map(({ address, action }) => `${address} ${action}`),
    steps: plan.steps
      .filter(({ action, needs }) => action.operation !== "record" && needs.every(({ on }) => on !== "failed"))
      .map(({ action, address }) => `${action.operation} ${address}`),
    consents: plan.consents.map(({ kind, address }) =>
      withAddresses && address !== undefined ? `${kind} ${address}` : kind,
    ),
    owed: owedBy(plan).map(({ address }) => address),
    codes: findings.flatMap(({ severity, code }) =>
      severity !== "note" && !code.startsWith("consent/") ? [code] : [],
    ),
    reachability: ["violated", "unproven"].find((word) => verdicts.some(({ verdict }) => verdict === word)) ?? "holds",
    exitCode: hasErrors(plan.diagnostics) ? 1 : isRefused(findings) ? 3 : 0,
    errors: findings.flatMap(({ severity, summary }) => (severity === "error" ? [summary] : [])),
  };
}

function comparePlan(told: ToldPlan, expect: ExpectedPlan): string[] {
  const problems: string[] = [];
  const differ = (what: string, expected: readonly string[] | undefined, is: readonly string[]): void => {
    if (expected === undefined || deepEqual(expected, is)) return;
    const list = (some: readonly string[]): string => (some.length === 0 ? "none" : some.join(", "));
    problems.push(`${what}: expected ${list(expected)}; is ${list(is)}`);
  };
  const sorted = (some: readonly string[]): string[] => [...new Set(some)].sort();
  const differAsSet = (what: string, expected: readonly string[] | undefined, is: readonly string[]): void =>
    differ(what, expected === undefined ? undefined : sorted(expected), sorted(is));
  const changes = Object.entries(expect.changes ?? {}).map(([address, action]) => `${address} ${action}`);
  differAsSet("changes", expect.changes === undefined ? undefined : changes, told.changes);
  differ("steps", expect.steps, told.steps);
  differAsSet("consents", expect.consents, told.consents);
  differAsSet("owed", expect.owed, told.owed);
  differAsSet("findings", expect.findings, told.codes);
  if (expect.reachability !== undefined) differ("reachability", [expect.reachability], [told.reachability]);
  const { exitCode, errors } = told;
  // A test that expects nothing of the plan expects that the plan can be carried out.
  const wanted = expect.exitCode ?? (expect.findings === undefined && expect.reachability === undefined ? 0 : exitCode);
  if (exitCode !== wanted)
    problems.push(`exit code: expected ${wanted}; is ${exitCode}${exitCode === 0 ? "" : `: ${errors.join("; ")}`}`);
  if (exitCode === 0) return problems;
  const undone = `the plan ends with exit code ${exitCode} and is not applied`;
  if (expect.converges === true) problems.push(convergenceProblem(false, undone));
  if (expect.outputs !== undefined) problems.push(`outputs: ${undone}`);
  return problems;
}
