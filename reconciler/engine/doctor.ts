/**
 * Finds out what a deployment of the service really has: whether it is there and takes the credential, which of the
 * read-only operations beyond the contract exist and where, and which fields its records show. Sends GET requests and
 * nothing else; what could only be found out by changing something is left as the dialect has it. The report is a
 * value; report/doctor-text.ts prints it.
 */
import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import {
  type AssumedOperation,
  assumedOperations,
  type Fallback,
  type ListOperation,
  listOperations,
  type Operation,
  operations,
  rowOf,
} from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
import { mustGet } from "../core/text/invariant";
import type { AssumedRoutes, Dialect, ListRoute, Route } from "../dialect/dialect";
import { compilePointers, findArray, findText } from "../dialect/pointers";
import { payloadOf } from "../dialect/records";
import { describeRecords, type RecordFinding, unknownVmStates } from "./doctor-records";

export interface DoctorPorts {
  /** Sends one GET, below the base URL, and ends with the parsed body. */
  get(operation: Operation, path: string): Promise<Outcome<unknown>>;
}

/** Ids that are known already, for operations that read one resource when no list gives an id. */
export interface KnownIds {
  readonly vm?: string;
  readonly volume?: string;
  readonly group?: string;
}

export interface OperationFinding {
  readonly operation: AssumedOperation;
  /**
   * `found` and `missing` were tried; `unclear`: it was tried and the answer decides nothing (refused, out of order,
   * no id to try it with); `not_tried`: only a change would show it.
   */
  readonly verdict: "found" | "missing" | "unclear" | "not_tried";
  /** Where it was found; for the others what the dialect has. */
  readonly route: Route | ListRoute | null;
  readonly tried: readonly { readonly path: string; readonly answer: string }[];
  /** For what is missing, and for what the dialect does without. */
  readonly fallback?: Fallback;
}

export interface DoctorReport {
  readonly reachable: boolean;
  readonly credential: "accepted" | "refused" | "unknown";
  readonly operations: readonly OperationFinding[];
  readonly records: readonly RecordFinding[];
  /** Words for a VM's state that the dialect gives no meaning to. */
  readonly unknownVmStates: readonly string[];
  /** The dialect given, with what was found. */
  readonly dialect: Dialect;
  readonly diagnostics: readonly Diagnostic[];
}

/** No resource has it, and every deployment can say so. */
const nobody = "00000000-0000-0000-0000-000000000000";

const volumePath = (id: string): string => operations["volume.get"].path.replace("{id}", () => encodeURIComponent(id));

export async function diagnoseService(
  ports: DoctorPorts,
  dialect: Dialect,
  known: KnownIds = {},
): Promise<DoctorReport> {
  const first = judgeFirst(await ports.get("volume.get", volumePath(nobody)));
  if (!first.reachable || first.credential === "refused")
    return {
      ...first,
      operations: [],
      records: [],
      unknownVmStates: [],
      dialect,
    };

  const findings = new Map<AssumedOperation, OperationFinding>();
  const samples = new Map<string, readonly unknown[]>();
  for (const operation of listOperations) {
    const { finding, items } = await probeList(ports, dialect, operation);
    findings.set(operation, finding);
    if (items !== undefined) samples.set(operation.slice(0, -".list".length), items);
  }
  const idOf = (kind: "vm" | "group"): string | undefined =>
    known[kind] ?? findText(samples.get(kind)?.[0], compilePointers(dialect.records[kind].id)) ?? undefined;
  for (const operation of ["vm.get", "group.get"] as const) {
    const kind = operation === "vm.get" ? "vm" : "group";
    const { finding, record } = await probeGet(ports, dialect, operation, idOf(kind));
    findings.set(operation, finding);
    if (record !== undefined && !samples.has(kind)) samples.set(kind, [record]);
  }
  if (!samples.get("volume")?.length) {
    const record = await readOneVolume(ports, dialect, samples.get("vm") ?? [], known.volume);
    if (record !== undefined) samples.set("volume", [record]);
  }
  for (const operation of assumedOperations)
    if (rowOf(operation).kind !== "read") findings.set(operation, notTried(dialect, operation));

  const operations = assumedOperations.map((operation) => mustGet(findings, operation));
  const { records, fitting } = describeRecords(dialect, samples);
  return {
    ...first,
    operations,
    records,
    unknownVmStates: unknownVmStates(dialect, samples.get("vm") ?? []),
    dialect: { ...dialect, operations: fittingRoutes(dialect, operations), records: fitting },
  };
}

type First = Pick<DoctorReport, "reachable" | "credential" | "diagnostics">;

/** A volume that nobody has: a service that is there and takes the credential says that it is not there. */
function judgeFirst(outcome: Outcome<unknown>): First {
  const problem = (code: DiagnosticCode, summary: string, detail: string, fix: string): Diagnostic[] => [
    { severity: "error", code, summary, detail, fix },
  ];
  switch (outcome.status) {
    case "accepted":
      return { reachable: true, credential: "accepted", diagnostics: [] };
    case "unavailable":
    case "unknown":
      return {
        reachable: false,
        credential: "unknown",
        diagnostics: problem(
          "service/unreachable",
          "The service cannot be reached",
          outcome.reason,
          (outcome.status === "unavailable" ? outcome.fix : undefined) ??
            "Check service.base_url (or --base-url), and that this machine can reach it.",
        ),
      };
    case "rejected":
      break;
    default:
      return outcome satisfies never;
  }
  if (outcome.condition === "unauthenticated" || outcome.condition === "forbidden")
    return {
      reachable: true,
      credential: "refused",
      diagnostics: problem(
        "service/credential-refused",
        "The service refuses the credential",
        outcome.message,
        "Check RECONCILE_TOKEN or RECONCILE_AUTHORIZATION, and authorization.header in the dialect.",
      ),
    };
  if (outcome.condition === "refused" || outcome.condition === "unsupported")
    return {
      reachable: false,
      credential: "unknown",
      diagnostics: problem(
        "service/not-this-service",
        "Something answers, but it does not seem to be the service",
        outcome.message,
        "Check service.base_url: all paths (/api/v1/…) are put behind it.",
      ),
    };
  if (outcome.condition === "not_proven")
    return {
      reachable: true,
      credential: "unknown",
      diagnostics: [
        {
          severity: "warning",
          code: "service/not_proven",
          summary: "A volume that nobody has is not answered in the service's own words",
          detail: outcome.message,
          fix: outcome.hint ?? "Check service.base_url: all paths (/api/v1/…) are put behind it.",
        },
      ],
    };
  return { reachable: true, credential: "accepted", diagnostics: [] };
}

interface ListProbe {
  readonly finding: OperationFinding;
  readonly items?: readonly unknown[];
}

async function probeList(ports: DoctorPorts, dialect: Dialect, operation: ListOperation): Promise<ListProbe> {
  const route = dialect.operations[operation];
  const pointers = route?.items ?? rowOf(operation).items ?? [];
  const tried: { path: string; answer: string }[] = [];
  let unclear = false;
  for (const path of candidates(operation, route)) {
    const outcome = await ports.get(operation, path);
    if (outcome.status === "accepted") {
      const items = findArray(payloadOf(outcome.value), compilePointers(pointers));
      tried.push({ path, answer: items === undefined ? "an answer without a list" : `a list of ${items.length}` });
      if (items !== undefined)
        return {
          finding: { operation, verdict: "found", route: { method: "GET", path, items: pointers }, tried },
          items,
        };
    } else {
      tried.push({ path, answer: describeOutcome(outcome) });
    }
    unclear ||= decidesNothing(outcome);
  }
  return { finding: notFound(operation, route, tried, unclear) };
}

interface GetProbe {
  readonly finding: OperationFinding;
  readonly record?: unknown;
}

async function probeGet(
  ports: DoctorPorts,
  dialect: Dialect,
  operation: "vm.get" | "group.get",
  id: string | undefined,
): Promise<GetProbe> {
  const route = dialect.operations[operation];
  if (id === undefined) return { finding: notFound(operation, route, [], true) };
  const idPaths = compilePointers(dialect.records[operation === "vm.get" ? "vm" : "group"].id);
  const tried: { path: string; answer: string }[] = [];
  let unclear = false;
  for (const path of candidates(operation, route)) {
    const outcome = await ports.get(
      operation,
      path.replace("{id}", () => encodeURIComponent(id)),
    );
    if (outcome.status === "accepted") {
      const record = payloadOf(outcome.value);
      const fits = findText(record, idPaths) === id;
      tried.push({ path, answer: fits ? "the record" : "an answer that is not the record" });
      if (fits) return { finding: { operation, verdict: "found", route: { method: "GET", path }, tried }, record };
    } else {
      tried.push({ path, answer: describeOutcome(outcome) });
    }
    unclear ||= decidesNothing(outcome);
  }
  return { finding: notFound(operation, route, tried, unclear) };
}

/** Volumes can always be read by id; a VM's record may show one. */
async function readOneVolume(
  ports: DoctorPorts,
  dialect: Dialect,
  vms: readonly unknown[],
  known: string | undefined,
): Promise<unknown> {
  const volumes = compilePointers(dialect.records.vm.volumes);
  const entryId = compilePointers(dialect.records.vm.volume_entry.id);
  const shown = vms.flatMap((vm) => findArray(vm, volumes) ?? []).map((entry) => findText(entry, entryId));
  const id = known ?? shown.find((found) => found);
  if (!id) return undefined;
  const outcome = await ports.get("volume.get", volumePath(id));
  return outcome.status === "accepted" ? payloadOf(outcome.value) : undefined;
}

/** What the dialect says first; another method than GET is not tried, for it may not be a read. */
function candidates(operation: AssumedOperation, route: Route | null): string[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const said = route !== null && route.method === "GET" ? [route.path] : [];
  return [...new Set([...said, path, ...alsoAt])];
}

/** In the words of the table alone. */
function fallbackOf(operation: AssumedOperation): Fallback {
  const { cost, instead } = operations[operation].assumed;
  return { cost, instead };
}

const notTried = (dialect: Dialect, operation: AssumedOperation): OperationFinding => {
  const route = dialect.operations[operation];
  return {
    operation,
    verdict: "not_tried",
    route,
    tried: [],
    ...(route === null && { fallback: fallbackOf(operation) }),
  };
};

function notFound(
  operation: AssumedOperation,
  route: Route | null,
  tried: OperationFinding["tried"],
  unclear: boolean,
): OperationFinding {
  return unclear
    ? { operation, verdict: "unclear", route, tried, ...(route === null && { fallback: fallbackOf(operation) }) }
    : { operation, verdict: "missing", route: null, tried, fallback: fallbackOf(operation) };
}

const decidesNothing = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "unavailable" ||
  outcome.status === "unknown" ||
  (outcome.status === "rejected" && (outcome.condition === "forbidden" || outcome.condition === "unauthenticated"));

function describeOutcome(outcome: Exclude<Outcome<unknown>, { status: "accepted" }>): string {
  return outcome.status === "rejected" ? `${outcome.condition}: ${outcome.message}` : outcome.reason;
}

/** What was tried and is not there is switched off; what is unclear stays as the dialect has it. */
function fittingRoutes(dialect: Dialect, findings: readonly OperationFinding[]): AssumedRoutes {
  const routes: Record<string, Route | null> = { ...dialect.operations };
  for (const { operation, verdict, route } of findings)
    if (verdict === "found" || verdict === "missing") routes[operation] = route;
  return routes as unknown as AssumedRoutes;
}
