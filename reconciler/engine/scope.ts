/**
 * Refuses a service, project or credential that is not the one the state was made with. Everything that plans comes
 * through here: what another one does not show is no evidence of anything.
 */

import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { acceptService, compareScopes, noEnvironment, type ScopeDoubt } from "../core/model/evidence";
import { type Advice, told, toSay } from "../core/model/fix";
import { type Kind, kinds } from "../core/model/kinds";
import { type Live, sight } from "../core/model/live";
import type { Scope, State } from "../core/model/recorded";
import { hostOf } from "../core/model/relations";
import { deepEqual } from "../core/text/deep-equal";
import { lazily } from "../core/text/lazily";
import { listed } from "../core/text/list-text";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import type { ServiceReader } from "../service/client";

export class ScopeRefused extends Error {
  override readonly name = "ScopeRefused";
  readonly code = "consent/accept-service" satisfies DiagnosticCode;
  /** Refused before any request. */
  readonly exitCode = 3;
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.summary);
    this.diagnostics = [diagnostic];
  }
}

/** The scope of a state that is made here with this file. */
export function scopeOf(
  client: Pick<ServiceReader, "origin" | "subject">,
  { project, environment, files }: Pick<Desired, "project" | "environment" | "files">,
): Scope {
  const subject = client.subject?.();
  return {
    origin: client.origin,
    ...onlyDefined({ project }),
    ...(environment === undefined ? (files.length === 0 ? {} : { environment: noEnvironment }) : { environment }),
    ...onlyDefined({ subject }),
  };
}

/** Sends no request, so it comes first. */
export function assertSameScope(state: Pick<State, "scope">, now: Scope): void {
  const doubt = compareScopes(state.scope, now);
  if (doubt === undefined) return;
  const isNoneDeclared = doubt.about === "environment" && now.environment === noEnvironment;
  throw scopeRefusal(doubt, [], isNoneDeclared ? noneDeclared : rightWay[doubt.about]);
}

/**
 * After a look: nothing that it did not show counts as gone, so nothing may be planned on it. A credential that was
 * refused is no doubt about the project: the finding that says so is an error, with which nothing is planned either.
 */
export function assertShown(state: State, live: Live, findings: readonly Diagnostic[] = []): void {
  if (live.doubt === undefined) return;
  if (findings.some(({ severity, code }) => severity === "error" && code === "service/unauthenticated")) return;
  const unseen: string[] = [];
  for (const { kind, id, address } of state.resources.values()) {
    const sighting = id === undefined ? undefined : sight(live, kind, id);
    if (sighting?.seen === "unobserved" && sighting.fix === acceptService) unseen.push(`${address} (${id})`);
  }
  const isEmbedded = state.scope?.origin === "embedded" && live.doubt.about === "credential";
  throw isEmbedded
    ? scopeRefusal(
        { ...live.doubt, reason: "the embedded service has nothing that this state remembers" },
        unseen,
        otherWorld,
      )
    : scopeRefusal(live.doubt, unseen);
}

/** Nobody has a credential of it: its folder was deleted, or the command runs in another one. */
const otherWorld: Advice = [
  toSay(
    [
      "its world, .reconcile/world, was deleted or is another one: put it back; or make everything anew there: ",
      ["apply", acceptService, "--recreate", "all"],
    ],
    "its world, .reconcile/world, was deleted or is another one: put it back",
  ),
];

const acceptInPulumi = "pulumi config set reconcile-cloud:acceptService true for one update";
const orAccept = (words: string, then: string): Advice => [
  toSay([`${words}; ${then}: `, ["apply", acceptService]], `${words}; ${then}: ${acceptInPulumi}`),
];

const noneDeclared = orAccept(
  "declare that environment in the file (environments:) and choose it with --env, or give the file a state of its own (--state, or state: in the file)",
  "if this state is of no environment from now on",
);

const rightWay: Record<ScopeDoubt["about"], Advice> = {
  origin: orAccept(
    "give the service's own address (service.base_url, RECONCILE_BASE_URL or --base-url)",
    "if the service has moved there",
  ),
  project: orAccept("give the project's own file or state", "if everything of this state is in that project now"),
  environment: orAccept(
    "choose the environment that this state is of (--env), or give the other one its own state (--state, or state: in the file)",
    "if this state is the other environment's from now on",
  ),
  credential: [
    toSay(
      [
        "use the credential of the project that this state is of; if it is the right one, and they are really gone: ",
        ["apply", acceptService],
        ", and --recreate ADDR for each resource to create again",
      ],
      `use the credential of the project that this state is of; if it is the right one, and they are really gone: ${acceptInPulumi}`,
    ),
  ],
};

const mostNames = 10;

const scopeRefusal = (doubt: ScopeDoubt, unseen: readonly string[], fix = rightWay[doubt.about]): ScopeRefused =>
  new ScopeRefused({
    severity: "error",
    code: "consent/accept-service",
    summary: doubt.reason,
    detail: `Nothing was sent, and nothing counts as gone.${unseen.length === 0 ? "" : ` Not shown: ${listed(unseen, mostNames)}.`}`,
    ...told(fix),
  });

/** Strangers by which a later look may recognise the project, and that it still sees each kind. */
const mostWitnessesTold = 5;
const ofEachKind = 2;

function witnessesAmong(shown: readonly string[]): readonly string[] {
  const first = shown.slice(0, mostWitnessesTold);
  const others = kinds.flatMap((kind) => {
    const isOf = (one: string): boolean => one.startsWith(`${kind}:`);
    return first.some(isOf) ? [] : shown.filter(isOf).slice(0, ofEachKind);
  });
  return [...first, ...others];
}

/**
 * Resources that the service shows and this state does not know: the groups that every project has come first, since
 * they stay.
 */
function strangersIn(state: State, live: Live, isOwn: (one: string) => boolean): readonly string[] {
  const open = new Set([...state.intents.values()].map(({ name }) => name.toLowerCase()));
  const found = kinds.flatMap((kind) =>
    [...live.of[kind].byId].flatMap(([id, sighting]) => {
      if (sighting.seen !== "yes" || isOwn(`${kind}:${id}`)) return [];
      const { name = "" } = sighting.value;
      const host = hostOf[kind];
      // What hangs on the state's own goes with it.
      if (host !== undefined && isOwn(`${host.kind}:${fieldsIn(sighting.value)[host.recorded]}`)) return [];
      // The resource of an open create is looked for, so it proves nothing here.
      return open.has(name.toLowerCase()) ? [] : [{ isDefault: name === "default", at: `${kind}:${id}` }];
    }),
  );
  return found.sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || (a.at < b.at ? -1 : 1)).map(({ at }) => at);
}

/** The scope that a run records when it writes. `undefined`: the state has it already. */
export function scopeToRemember(
  state: State,
  now: Scope,
  live: Live,
  accepted: boolean,
  isPart = false,
  /** What the run changes or takes over is the state's own, and no stranger by which the project may be recognised. */
  taken: readonly { readonly kind: Kind; readonly id?: string }[] = [],
): Scope | undefined {
  const { scope } = state;
  const { environment: chosen, ...place } = now;
  const here: Scope = {
    ...place,
    ...onlyDefined({ environment: chosen === undefined || chosen === noEnvironment ? undefined : chosen }),
  };
  const own = lazily(() => new Set([...state.resources.values(), ...taken].map(({ kind, id }) => `${kind}:${id}`)));
  const isOwn = (one: string): boolean => own().has(one);
  const shown = strangersIn(state, live, isOwn);
  const fresh: Scope = { ...here, ...onlyDefined({ sees: shown.length === 0 ? undefined : witnessesAmong(shown) }) };
  if (scope !== undefined && !accepted) {
    const { sees: before, ...others } = scope;
    const left = before?.filter((one) => !isOwn(one));
    // None of the remembered strangers is left: those that are shown now take their place.
    const isStale = !isPart && left?.every((one) => !shown.includes(one)) === true && fresh.sees !== undefined;
    const sees = isStale ? fresh.sees : left?.length === 0 ? undefined : left;
    // Whoever got as far as this was shown what the state remembers, or remembers nothing to be shown.
    const subject = here.subject ?? scope.subject;
    const learnt = { ...here, ...others, ...onlyDefined({ sees, subject }) };
    return deepEqual(learnt, scope) ? undefined : learnt;
  }
  const { environment: _, ...rest } = scope ?? {};
  const next = { ...rest, ...fresh };
  return deepEqual(next, scope) ? undefined : next;
}
