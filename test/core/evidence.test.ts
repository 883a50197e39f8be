/** What counts as gone: both proofs are needed, and each way to lack one leaves a thing unobserved. */
import { describe, expect, it } from "vitest";
import type { ScopeEvidence } from "../../reconciler/core/model/evidence";
import {
  isDoubt,
  judgeScope,
  noEnvironment,
  notFoundTwice,
  notInList,
  saidGoneTwice,
  weigh,
} from "../../reconciler/core/model/evidence";

const here = { origin: "https://cloud.example", project: "acme" };
const evidence = (over: Partial<ScopeEvidence>): ScopeEvidence => ({
  remembered: here,
  now: here,
  accepted: false,
  recorded: ["vm:1", "vm:2"],
  seen: new Set(["vm:1"]),
  absent: ["vm:2"],
  forbidden: [],
  creates: false,
  lost: [],
  ...over,
});
const volumes = ["volume:1", "volume:2", "volume:3", "volume:4"];

/** Nothing of the state's own is missing, something is to be made, and a volume that was left over does not show. */
const known = (before: string | undefined, now: string | undefined): Partial<ScopeEvidence> => ({
  remembered: { ...here, ...(before === undefined ? {} : { subject: before }) },
  now: { ...here, ...(now === undefined ? {} : { subject: now }) },
  recorded: [],
  seen: new Set(),
  absent: [],
  creates: true,
  lost: ["volume:9"],
});

const proven: Record<string, Partial<ScopeEvidence>> = {
  "something else that is recorded is shown": {},
  "nothing that is recorded is missing": { recorded: ["vm:1"], seen: new Set(), absent: [] },
  "an old state that remembers no scope, and something recorded is shown": { remembered: undefined },
  "a state that knows nothing yet has nothing to miss": {
    remembered: undefined,
    recorded: [],
    seen: new Set(),
    absent: ["the create of vm.a"],
  },
  "a stranger that was shown before is shown again": {
    remembered: { ...here, sees: ["group:default"] },
    recorded: ["vm:2"],
    seen: new Set(["group:default"]),
  },
  "the user says so": { accepted: true, remembered: { origin: "https://other.example" }, seen: new Set() },
  "nothing is said about an environment": { remembered: { ...here, environment: "prod" } },
  "the file names no project": { now: { origin: here.origin } },
  "something is to be made, and what else was known does not show to the same subject": {
    ...known("somebody", "somebody"),
  },
  "three of one kind, of which none is left, beside another kind": {
    recorded: ["vm:1", ...volumes.slice(1)],
    absent: volumes.slice(1),
  },
  "of one kind everything is missing, and a run has sent the delete of it": { recorded: ["vm:1"], absent: volumes },
};
const doubted: Record<string, readonly [Partial<ScopeEvidence>, RegExp]> = {
  "another origin, even when everything is shown": [
    { now: { ...here, origin: "http://127.0.0.1:1" }, absent: [] },
    /of the service https:\/\/cloud\.example, and this is http:\/\/127\.0\.0\.1:1/,
  ],
  "another project, even when everything is shown": [
    { now: { ...here, project: "other" }, absent: [] },
    /project acme/,
  ],
  "another environment, even when everything is shown": [
    { remembered: { ...here, environment: "prod" }, now: { ...here, environment: "staging" }, absent: [] },
    /of the environment prod, and staging was chosen/,
  ],
  "no environment, where one was chosen before": [
    { remembered: { ...here, environment: "prod" }, now: { ...here, environment: noEnvironment }, absent: [] },
    /of the environment prod, and the file declares none/,
  ],
  "nothing that is recorded is shown": [{ seen: new Set(["vm:stranger"]), absent: ["vm:1", "vm:2"] }, /shows nothing/],
  "an old state, and nothing that is recorded is shown": [
    { remembered: undefined, seen: new Set(), absent: ["vm:1", "vm:2"] },
    /shows nothing/,
  ],
  "an open create beside records of which none is shown": [
    { seen: new Set(), absent: ["the create of vm.c"] },
    /shows nothing/,
  ],
  "something is to be made, and what else was known does not show": [
    known(undefined, undefined),
    /shows nothing that this state remembers \(volume:9\)/,
  ],
  "the same to a credential of which nobody knew whose it is": [known(undefined, "somebody"), /shows nothing/],
  "the same to one that does not say whose it is": [known("somebody", undefined), /shows nothing/],
  "the same to somebody else's": [known("somebody", "another"), /speaks for somebody else/],
  "something recorded may not be looked at": [{ forbidden: ["group:1"] }, /may not look at group:1/],
  "more than a few of one kind, and none of it is left": [
    { recorded: ["vm:1", ...volumes], absent: volumes },
    /none of the 4 volumes/,
  ],
};

describe("the scope is proven when", () => {
  it.each(Object.entries(proven))("%s", (_, over) => {
    expect(isDoubt(judgeScope(evidence(over)))).toBe(false);
  });
});

describe("the scope is doubted when", () => {
  it.each(Object.entries(doubted))("%s", (_, [over, reason]) => {
    const verdict = judgeScope(evidence(over));
    expect(isDoubt(verdict) && verdict.reason).toMatch(reason);
  });
});

describe("an absence", () => {
  const proof = judgeScope(evidence({}));
  const doubt = judgeScope(evidence({ seen: new Set() }));

  it.each([notInList("the list of VMs"), notFoundTwice])("is gone with a proven scope: $because", (absent) => {
    expect(weigh(absent, proof)).toMatchObject({ seen: "gone", because: absent.because });
  });

  it.each([notInList("the list of VMs"), notFoundTwice])("is unobserved with a doubted one: $because", (absent) => {
    expect(weigh(absent, doubt)).toMatchObject({
      seen: "unobserved",
      reason: expect.stringContaining(absent.because),
      fix: "--accept-service",
    });
  });

  it("is nothing that a look without one turns into", () => {
    const unobserved = { seen: "unobserved", reason: "it was not looked at" } as const;
    expect(weigh(unobserved, proof)).toBe(unobserved);
  });
});

describe("what a not-found rests on", () => {
  const read = { httpStatus: 404, asked: "GET /volume/7" };
  it.each([
    [
      { ...read, message: "project acme not found" },
      /no such id \(GET \/volume\/7: HTTP 404, "project acme not found"\)$/,
    ],
    // A number of the request would make two plans of one world.
    [{ ...read, message: "volume 7 not found (request a1b2-c3)" }, /HTTP 404, "volume … not found \(request …\)"\)$/],
    [{ ...read, message: "the service answered 404" }, /\(GET \/volume\/7: HTTP 404\)$/],
    [{ ...read, word: "TERMINATED" }, /shows it as TERMINATED, which the dialect calls gone$/],
    [{}, /twice that it has no such id$/],
  ])("%j", (said, text) => expect(saidGoneTwice(said).because).toMatch(text));
});
