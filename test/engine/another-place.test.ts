/** What is refused because the service, the project, the credential or the state is not the one that was planned for. */
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../reconciler/core/model/diagnostic";
import { acceptService, noEnvironment, type ScopeDoubt } from "../../reconciler/core/model/evidence";
import { type Live, notSeen } from "../../reconciler/core/model/live";
import type { RecordedResource, Scope } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { hasNothingToDo, openForWriting, rememberSeen, StateMovedOn } from "../../reconciler/engine/apply";
import { assertMayCreate, openStoredState } from "../../reconciler/engine/plan";
import { assertSameScope, assertShown, ScopeRefused, scopeOf } from "../../reconciler/engine/scope";
import { projectOf } from "../support/bench-world";
import { carryOutOn, holder, prepareOn } from "../support/engine-on";
import { createMemoryStore, virtualWorld } from "../support/virtual-world";

const origin = "https://cloud.example";
const refusalOf = (call: () => void): Diagnostic => {
  try {
    call();
  } catch (error) {
    if (error instanceof ScopeRefused) return error.diagnostics[0]!;
    throw error;
  }
  throw new Error("it was not refused");
};

describe("the scope of a state", () => {
  const client = { origin, subject: () => "me" };
  it.each<readonly [what: string, from: Parameters<typeof scopeOf>[1], scope: Scope]>([
    [
      "of a file",
      { project: "acme", files: ["reconcile.yaml"] } as never,
      { origin, project: "acme", subject: "me", environment: "none" } as never,
    ],
    [
      "of a file in an environment",
      { project: "acme", environment: "prod", files: ["reconcile.yaml"] } as never,
      { origin, project: "acme", environment: "prod", subject: "me" },
    ],
    ["of no file", { files: [] } as never, { origin, subject: "me" }],
  ])("%s", (_, from, scope) => {
    const { environment, ...rest } = scopeOf(client, from);
    const { environment: expected, ...others } = scope;
    expect(rest).toEqual(others);
    expect(environment !== undefined).toBe(expected !== undefined);
  });
  it("has no subject where the credential does not say it", () => {
    expect(scopeOf({ origin }, { files: [] } as never)).toEqual({ origin });
  });

  const stateOf = (scope: Scope | undefined) => ({ ...emptyState("l"), ...(scope === undefined ? {} : { scope }) });
  it.each<readonly [what: string, before: Scope | undefined, now: Scope, fix: RegExp | undefined]>([
    ["that remembers nothing", undefined, { origin }, undefined],
    ["of the same place", { origin, project: "acme" }, { origin, project: "acme" }, undefined],
    [
      "of another service",
      { origin: "https://other.example" },
      { origin },
      /--base-url.*if the service has moved there/,
    ],
    [
      "of another project",
      { origin, project: "acme" },
      { origin, project: "other" },
      /give the project's own file or state/,
    ],
    [
      "of another environment",
      { origin, environment: "prod" },
      { origin, environment: "test" },
      /choose the environment that this state is of \(--env\)/,
    ],
    [
      "of an environment, where the file declares none",
      { origin, environment: "prod" },
      { origin, environment: noEnvironment },
      /^declare that environment in the file \(environments:\) and choose it with --env, or/,
    ],
  ])("%s", (_, before, now, fix) => {
    const call = () => assertSameScope(stateOf(before), now);
    if (fix === undefined) expect(call()).toBeUndefined();
    else
      expect(refusalOf(call)).toMatchObject({
        code: "consent/accept-service",
        detail: "Nothing was sent, and nothing counts as gone.",
        fix: expect.stringMatching(fix),
      });
  });
});

describe("a look that showed nothing of the state", () => {
  const record = (n: number): RecordedResource => ({
    kind: "volume",
    address: `volume.d-${n}`,
    id: `d-${n}`,
    name: `d-${n}`,
    flush: { via: "ask" },
    preventDestroy: false,
  });
  const state = (count: number, scope?: Scope) => ({
    ...emptyState("l"),
    ...(scope === undefined ? {} : { scope }),
    resources: new Map(Array.from({ length: count }, (_, index) => [`volume.d-${index}`, record(index)])),
  });
  const doubt = (about: ScopeDoubt["about"]): ScopeDoubt => ({ about, reason: "nothing of it shows" }) as ScopeDoubt;
  const live = (of: ScopeDoubt | undefined, count: number, fix = acceptService): Live =>
    ({
      ...notSeen,
      ...(of === undefined ? {} : { doubt: of }),
      of: {
        ...notSeen.of,
        volume: {
          ...notSeen.of.volume,
          byId: new Map(
            Array.from({ length: count }, (_, index) => [`d-${index}`, { seen: "unobserved", reason: "r", fix }]),
          ),
        },
      },
    }) as unknown as Live;
  const refused: Diagnostic = { severity: "error", code: "service/unauthenticated", summary: "no" };

  it("is none where nothing is in doubt", () => {
    expect(assertShown(state(1), live(undefined, 1))).toBeUndefined();
  });
  it.each<readonly [what: string, findings: readonly Diagnostic[], isRefused: boolean]>([
    ["a credential that was refused is told by its own error", [refused], false],
    ["a warning about a credential is no error", [{ ...refused, severity: "warning" }], true],
    ["another error is another matter", [{ ...refused, code: "service/unavailable" }], true],
  ])("%s", (_, findings, isRefused) => {
    const call = () => assertShown(state(1), live(doubt("credential"), 1), findings);
    if (isRefused) expect(refusalOf(call).summary).toBe("nothing of it shows");
    else expect(call()).toBeUndefined();
  });
  it.each<readonly [what: string, count: number, detail: string]>([
    ["one", 1, "Nothing was sent, and nothing counts as gone. Not shown: volume.d-0 (d-0)."],
    [
      "ten",
      10,
      `Nothing was sent, and nothing counts as gone. Not shown: ${Array.from({ length: 10 }, (_, n) => `volume.d-${n} (d-${n})`).join(", ")}.`,
    ],
    [
      "eleven",
      11,
      `Nothing was sent, and nothing counts as gone. Not shown: ${Array.from({ length: 10 }, (_, n) => `volume.d-${n} (d-${n})`).join(", ")} and 1 more.`,
    ],
  ])("names %s of what was not shown", (_, count, detail) => {
    expect(refusalOf(() => assertShown(state(count), live(doubt("credential"), count)))).toMatchObject({
      detail,
      fix: expect.stringMatching(/use the credential of the project/),
    });
  });
  it("does not name what was not looked at for another reason", () => {
    expect(refusalOf(() => assertShown(state(1), live(doubt("credential"), 1, "something else"))).detail).toBe(
      "Nothing was sent, and nothing counts as gone.",
    );
  });
  it.each<readonly [what: string, scope: Scope | undefined, about: ScopeDoubt["about"], isOther: boolean]>([
    ["of the embedded service is of another world", { origin: "embedded" }, "credential", true],
    ["of the embedded service, about its project, is not", { origin: "embedded" }, "project", false],
    ["of a real service is not", { origin }, "credential", false],
    ["of a state that remembers no service is not", undefined, "credential", false],
  ])("%s", (_, scope, about, isOther) => {
    const { summary, fix } = refusalOf(() => assertShown(state(1, scope), live(doubt(about), 1)));
    expect([
      summary === "the embedded service has nothing that this state remembers",
      /\.reconcile\/world/.test(fix ?? ""),
    ]).toEqual([isOther, isOther]);
  });
});

const file = projectOf({ volumes: { data: { size: 5 } } });
const failing = (outcome: object) => async () => outcome as never;

describe("a plan", () => {
  const away = { status: "unavailable", reason: "connection refused" };
  const throttled = { status: "rejected", condition: "throttled", message: "slow down" };
  it.each<readonly [what: string, outcome: object, images: object | undefined, message: RegExp | undefined]>([
    ["for a service that is away is none", away, away, /^the service embedded cannot be reached: connection refused/],
    [
      "for a service that lets nothing through is none",
      throttled,
      throttled,
      /^the service embedded lets nothing through: /,
    ],
    ["for a service of which something shows is made", away, undefined, undefined],
  ])("%s", async (_, outcome, catalogue, message) => {
    const stage = virtualWorld({ with: ["volume.list"] });
    const { client } = stage;
    const broken = {
      ...client,
      can: client.can,
      listVolumes: failing(outcome),
      listVms: failing(outcome),
      listGroups: failing(outcome),
      ...(catalogue === undefined
        ? {}
        : { listImages: failing(catalogue), listFlavors: failing(catalogue), listRegions: failing(catalogue) }),
    };
    const desired = projectOf({ vms: { web: {} }, volumes: { data: { size: 5 } } });
    const made = prepareOn({ store: stage.store, ports: { ...stage.ports, client: broken } }, desired);
    if (message === undefined) expect((await made).plan.diagnostics.length).toBeGreaterThan(0);
    else await expect(made).rejects.toThrow(message);
  });

  it("of a state that somebody has changed since is not carried out", async () => {
    const stage = virtualWorld();
    const prepared = await stage.plan(file);
    await stage.record([{ type: "outputs", outputs: { a: { value: "1" } } }]);
    await expect(carryOutOn(stage, prepared)).rejects.toThrow(StateMovedOn);
    expect(await stage.store.holder()).toBeUndefined();
    expect(stage.takeSent().filter(({ operation }) => operation === "volume.create")).toEqual([]);
  });

  it("has nothing to do once it was carried out, unless the service is to be accepted", async () => {
    const stage = virtualWorld();
    expect(hasNothingToDo((await stage.plan(file)).plan)).toBe(false);
    await stage.apply(await stage.plan(file));
    const { plan } = await stage.plan(file);
    const accepting = { ...plan, options: { ...plan.options, acceptService: true } };
    expect([
      hasNothingToDo(plan),
      hasNothingToDo(plan, { scope: { origin } }),
      hasNothingToDo(accepting, { scope: { origin } }),
      hasNothingToDo(accepting),
    ]).toEqual([true, true, false, true]);
  });

  it("says nothing of what may be created for a state of another service", async () => {
    const stage = virtualWorld();
    await stage.apply(await stage.plan(file));
    const { signal } = new AbortController();
    const elsewhere = { ...stage.client, can: stage.client.can, origin: "https://elsewhere.example" };
    await expect(assertMayCreate(elsewhere, file, stage.store, signal)).rejects.toBeInstanceOf(ScopeRefused);
    await expect(assertMayCreate(stage.client, file, stage.store, signal)).resolves.toBeUndefined();
    const [volume] = stage.emulated.dump().volumes;
    stage.emulated.call("volume.delete", undefined, { id: volume!.id });
    await expect(assertMayCreate(stage.client, file, stage.store, signal)).rejects.toBeInstanceOf(ScopeRefused);
  });
});

describe("a state", () => {
  it.each<readonly [what: string, snapshot: string, message: RegExp, code: string]>([
    ["that is no state", "no state at all", /^the state here cannot be read: /, "state/unreadable"],
    [
      "that a newer version wrote",
      JSON.stringify({ ...JSON.parse(writeSnapshot(emptyState("l"))), version: 99 }),
      /^the state here/,
      "state/newer",
    ],
  ])("%s is not opened", (_, snapshot, message, code) => {
    const call = () => openStoredState({ snapshot, journal: [] }, "here", "l");
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code }));
  });
  it("whose last line was cut off is opened with a note", () => {
    const { notes } = openStoredState({ snapshot: writeSnapshot(emptyState("l")), journal: ["{"] }, "here", "l");
    expect(notes).toMatchObject([{ severity: "note", code: "state/cut-off" }]);
  });
  it("that does not exist has the lineage that it is given, also the second time", () => {
    const stored = { journal: [] };
    expect([
      openStoredState(stored, "here", "one").state.lineage,
      openStoredState(stored, "here", "two").state.lineage,
    ]).toEqual(["one", "two"]);
  });
  it("that cannot be opened for writing is let go", async () => {
    const store = createMemoryStore({ snapshot: "no state", journal: [] });
    await expect(openForWriting(store, holder, "l")).rejects.toThrow("cannot be read");
    expect(await store.holder()).toBeUndefined();
  });
  it.each<readonly [what: string, isDue: boolean | undefined, moves: boolean, writes: number]>([
    ["remembers a look that is due", true, false, 1],
    ["remembers no look that is not", false, false, 0],
    ["remembers no look where nobody plans from memory", undefined, false, 0],
    ["remembers no look of what somebody has changed since", true, true, 0],
  ])("%s", async (_, isDue, moves, writes) => {
    const store = createMemoryStore({ snapshot: writeSnapshot(emptyState("l")), journal: [] });
    const { state } = openStoredState(await store.read(), "here", "l");
    if (moves) {
      const { recorder } = await openForWriting(store, holder, "l");
      await recorder.record([{ type: "outputs", outputs: {} }]);
      await recorder.close();
    }
    const before = store.stored.journal.length;
    const sightings = { isDue, at: "2026-01-01T00:00:00.000Z" };
    await rememberSeen({ state, ...(isDue === undefined ? {} : { sightings }) } as never, store, holder);
    const seen = store.stored.journal.slice(before).filter((line) => line.includes('"seen"'));
    const inSnapshot = store.stored.snapshot?.includes("2026-01-01T00:00:00.000Z") === true ? 1 : 0;
    expect([Math.max(seen.length, inSnapshot), await store.holder()]).toEqual([writes, undefined]);
  });
});
