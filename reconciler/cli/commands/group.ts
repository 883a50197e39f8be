/**
 * `reconcile group import LISTING.json`: the service's bulk import of a third-party listing, with the YAML that takes the
 * new groups over; or, with `--convert`, that YAML without the service. Nothing is left out silently.
 */

import { convertListing, restrictsEgress } from "../../config/convert-listing";
import { type ListedGroup, readListing } from "../../config/read/listing";
import { worldBlocks } from "../../config/world-blocks";
import { writeYaml, type YamlBlock } from "../../config/yaml/write";
import { canonicalLiveRule } from "../../core/canonical/rules";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import type { LiveGroup } from "../../core/model/live";
import { errorMessage } from "../../core/text/errors";
import { inShell } from "../../core/text/in-shell";
import { mustGet } from "../../core/text/invariant";
import { fewParts, listed } from "../../core/text/list-text";
import { groupedBy, onlyDefined } from "../../core/text/objects";
import type { ImportReport } from "../../dialect/reports";
import { listName } from "../../engine/observe";
import { assertMayCreate } from "../../engine/plan";
import { pullWorld } from "../../engine/pull";
import { readFailed } from "../../engine/read-failed";
import { isPlatformShaped } from "../../kinds/group/compare-rules";
import { systemClock } from "../../outside/clock";
import { type ListingOutcome, listingLines } from "../../report/listing-text";
import { command, type Invocation, oneArgument } from "../command";
import { fail, readDialectWith, type Service } from "../compose";
import { commonFlags } from "../flags";
import { unlessStopped } from "../session";
import { withLockedSession } from "../with-session";
import { readGiven, readWorkspace, type Workspace } from "../workspace";
import { checkTarget, putYaml } from "../yaml-output";

export const groupImportCommand = command({
  usage: "group import LISTING.json [--convert] [--out FILE]",
  summary: "imports another cloud's listing of security groups, or translates it into YAML",
  section: "Taking over and handing on",
  examples: [["reconcile group import listing.json", "the service's bulk import, and everything it skipped"]],
  flags: ["file", "convert", "out", "force", "lock-timeout", ...commonFlags],
  positionals: oneArgument("a JSON file"),
  run(invocation) {
    const { flags } = invocation;
    const [file] = invocation.args;
    checkTarget(invocation);
    const listing = readJsonFile(file);
    const { groups, problems } = readListing(listing);
    if (problems.length > 0)
      throw fail(
        "listing/unreadable",
        `${file} is no listing of security groups: ${fewParts(problems, 5)}`,
        "give the JSON output of the other cloud's describe-security-groups as it is",
      );
    const workspace = readWorkspace(invocation, { args: [], needed: false });
    return flags.convert === true
      ? convertGroups(invocation, workspace, groups)
      : importAll(invocation, workspace, listing, groups);
  },
});

function readJsonFile(path: string): unknown {
  const text = readGiven(path, "name a JSON file");
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw fail("cli/file-unreadable", `${path} cannot be read: ${errorMessage(error)}`, "name a JSON file");
  }
}

async function convertGroups(
  invocation: Invocation,
  workspace: Workspace,
  groups: readonly ListedGroup[],
): Promise<number> {
  const { dialect, diagnostics } = readDialectWith(workspace, invocation.flags);
  const converted = convertListing(groups);
  const outcomes = converted.map(
    ({ name, listedName, rules, skipped }): ListingOutcome => ({
      name,
      listedName: listedName.toLowerCase() === name ? undefined : listedName,
      status: "converted",
      rules: rules.length,
      skipped,
    }),
  );
  const ranges = converted.reduce((sum, group) => sum + group.ranges, 0);
  const warnings: Diagnostic[] =
    ranges === 0 || dialect.rules.port_range !== null
      ? []
      : [
          {
            severity: "warning",
            code: "listing/port-ranges",
            summary: `${ranges} ${ranges === 1 ? "rule has a range" : "rules have ranges"} of ports, which this service takes through its import alone`,
            detail:
              "The dialect does not say how a range is written in dst_port, so creating these rules one by one is refused.",
            fix: 'reconcile group import without --convert, or rules: { port_range: "{min}-{max}" } in the dialect',
          },
        ];
  putBlocks(
    invocation,
    outcomes,
    converted.map(({ block }) => block),
  );
  return invocation.output.finish({
    exitCode: 0,
    diagnostics: [...diagnostics, ...warnings, ...egressWarning(groups)],
  });
}

async function importAll(
  invocation: Invocation,
  workspace: Workspace,
  listing: unknown,
  listed: readonly ListedGroup[],
): Promise<number> {
  return withLockedSession(invocation, workspace, async ({ service, store }, stop) => {
    const look = <T>(looking: Promise<T>): Promise<T> => unlessStopped(stop.soft, looking);
    await look(assertMayCreate(service.client, workspace.desired, store, stop.soft));
    const twins = await look(twinsOf(service.client, listed, stop.soft));
    if (twins.length > 0) return { exitCode: 1, diagnostics: [...service.diagnostics, ...twins] };
    const outcome = await service.client.importGroups(listing);
    if (outcome.status !== "accepted")
      return { exitCode: 1, diagnostics: [...service.diagnostics, notImported(outcome)] };
    const outcomes = outcome.value.groups.map(outcomeOf);
    const { blocks, diagnostics, ...looked } = await takeOverGroups(service, outcomes, listed, stop.soft);
    const unseen = [...looked.unseen, ...notTold(outcomes, listed)];
    putBlocks(invocation, outcomes, blocks);
    const failures = outcomes.filter(({ status }) => status === "failed").map(listingFailure);
    const made = new Set(outcomes.flatMap(({ name, status }) => (status === "created" ? [name.toLowerCase()] : [])));
    const egress = egressWarning(listed.filter(({ name }) => made.has(name.toLowerCase())));
    const isFailed = failures.length > 0 || hasErrors(diagnostics);
    return {
      exitCode: isFailed ? 1 : unseen.length > 0 ? 4 : 0,
      extra: { unseen: unseen.length },
      diagnostics: [...service.diagnostics, ...diagnostics, ...failures, ...unseen, ...egress],
    };
  });
}

/** Where a name may be two groups', the service refuses no second one: an import whose answer was lost is not repeated. */
async function twinsOf(
  client: Service["client"],
  listed: readonly ListedGroup[],
  signal: AbortSignal,
): Promise<readonly Diagnostic[]> {
  if (client.unique?.includes("group") === true || !client.can.canFindCreated("group")) return [];
  const groups = await client.listGroups({ signal, proves: true });
  if (groups.status !== "accepted") return [readFailed(listName("group"), groups)];
  const wanted = new Set(listed.map(({ name }) => name.toLowerCase()));
  return groups.value.flatMap(({ id, name = "" }) =>
    wanted.has(name.toLowerCase())
      ? [
          {
            severity: "error",
            code: "listing/group-failed",
            summary: `nothing was imported: there is a group ${name} already (${id}), and this would make a second one`,
            fix: `${takesOver(id)}; and take it out of the listing`,
          },
        ]
      : [],
  );
}

const takesOver = (id: string): string =>
  `reconcile pull --group ${inShell(id)} prints its YAML, where an earlier import made it or it is yours`;

const outcomeOf = ({
  name,
  id,
  status,
  rulesCreated,
  skipped,
  error,
}: ImportReport["groups"][number]): ListingOutcome => ({
  name,
  id,
  status: status === "created" ? "created" : "failed",
  rules: rulesCreated,
  skipped,
  error,
});

/** The blocks are made from the rules that the new groups have now, not from what the listing asked for. */
async function takeOverGroups(
  service: Pick<Service, "client" | "timing">,
  outcomes: readonly ListingOutcome[],
  listed: readonly ListedGroup[],
  signal: AbortSignal,
) {
  const created = new Map(outcomes.flatMap((one) => (one.id === undefined ? [] : [[one.id, one] as const])));
  const byName = groupedBy(listed, ({ name }) => name.toLowerCase());
  const { pulled, unseen } = await lookForRules(service, created, signal);
  const groups = pulled.groups.map((group) => {
    const { name } = mustGet(created, group.id);
    // Of several groups of one name nobody says which one was made.
    const [description, ...others] = new Set(byName.get(name.toLowerCase())?.map((one) => one.description));
    if (others.length > 0) return { ...group, name };
    return { ...group, name, ...onlyDefined({ description }) };
  });
  const { blocks } = worldBlocks({ ...pulled, groups });
  const withSkipped = blocks.map((block): YamlBlock => {
    if (block.id === undefined) return block;
    const skipped = mustGet(created, block.id).skipped.map((source) => `skipped: ${source}`);
    return { ...block, notes: [...(block.notes ?? []), ...skipped] };
  });
  const diagnostics = pulled.diagnostics.filter(({ code }) => code !== "pull/not-found");
  return { blocks: withSkipped, diagnostics, unseen };
}

/** The report is the service's word: what it says was made is looked for as long as a look may be behind. */
async function lookForRules(
  { client, timing }: Pick<Service, "client" | "timing">,
  created: ReadonlyMap<string, ListingOutcome>,
  signal: AbortSignal,
) {
  for (const until = systemClock.now() + timing.discoveryWindowMs; ; ) {
    const pulled = await pullWorld(client, { groups: [...created.keys()] });
    const unseen = [...created].flatMap(([id, outcome]) => ruleNotSeen(id, outcome, pulled.groups));
    if (unseen.length === 0 || systemClock.now() >= until || signal.aborted) return { pulled, unseen };
    await systemClock.sleep(timing.pollIntervalMs, signal);
  }
}

function ruleNotSeen(
  id: string,
  { name, rules: said }: ListingOutcome,
  groups: readonly Pick<LiveGroup, "id" | "rules">[],
): Diagnostic[] {
  const group = groups.find((one) => one.id === id);
  const shown = group?.rules?.filter((rule) => rule.platform !== true && !isPlatformShaped(canonicalLiveRule(rule)));
  if (group !== undefined && (shown === undefined || shown.length >= said)) return [];
  return [
    {
      severity: "warning",
      code: "apply/not-seen",
      summary: `group ${name} (${id}): the service accepted it and ${shown === undefined ? "does not show it" : `shows ${shown.length} of the ${said} rules that it says it made`}`,
      detail: "The YAML has only what the group shows, and no plan adds the rest.",
      fix: `reconcile pull --group ${inShell(id)} prints it again; add to the YAML what is still missing, and apply that`,
    },
  ];
}

/** What the report leaves open: a group of which it says nothing, or not under which id it was made. */
function notTold(outcomes: readonly ListingOutcome[], listed: readonly ListedGroup[]): Diagnostic[] {
  const told = new Set(outcomes.map(({ name }) => name.toLowerCase()));
  const unnamed = outcomes.filter(({ status, id }) => status === "created" && id === undefined);
  const leftOut = outcomes.length < listed.length ? listed.filter(({ name }) => !told.has(name.toLowerCase())) : [];
  const open = (name: string, what: string): Diagnostic => ({
    severity: "warning",
    code: "apply/not-seen",
    summary: `group ${name}: the service accepted the listing, and its report ${what}`,
    fix: `look for it in the service's console; where it is there, ${takesOver("ID")}`,
  });
  return [
    ...unnamed.map(({ name }) => open(name, "says that it was created and not under which id")),
    ...leftOut.map(({ name }) => open(name, "does not say what became of it")),
  ];
}

function putBlocks(invocation: Invocation, outcomes: readonly ListingOutcome[], blocks: readonly YamlBlock[]): void {
  const { output, flags } = invocation;
  for (const one of outcomes) output.event({ type: "group", ...one });
  const report = listingLines(outcomes);
  const yaml = writeYaml({ head: { version: 1 }, blocks });
  if (flags.out !== undefined) output.print(report.join("\n"));
  // Standard output holds YAML alone, so that it can be kept as a file.
  putYaml(invocation, flags.out === undefined ? `${report.map((line) => `# ${line}`).join("\n")}\n${yaml}` : yaml);
}

function egressWarning(groups: readonly ListedGroup[]): Diagnostic[] {
  const restricting = groups.filter(restrictsEgress).map(({ name }) => name);
  if (restricting.length === 0) return [];
  return [
    {
      severity: "warning",
      code: "listing/egress",
      summary: `${listed(restricting, 5)} ${restricting.length === 1 ? "restricts" : "restrict"} what may leave, which a service that opens the way out of every group by itself undoes`,
      fix: "once the groups exist, reconcile exposure shows what really leaves them",
    },
  ];
}

const listingFailure = ({ name, error }: ListingOutcome): Diagnostic => ({
  severity: "error",
  code: "listing/group-failed",
  summary: `group ${name} was not created: ${error ?? "the service gives no reason"}`,
  fix: `correct it in the listing and import that group alone, or translate it with --convert, which maps names; where it is there already, ${takesOver("ID")}`,
});

function notImported(outcome: {
  readonly status: string;
  readonly message?: string;
  readonly reason?: string;
  readonly hint?: string;
}): Diagnostic {
  const said = outcome.message ?? outcome.reason ?? outcome.status;
  return outcome.status === "unknown"
    ? {
        severity: "error",
        code: "listing/outcome-unknown",
        summary: `whether the listing was imported is not known: ${said}`,
        fix: `look at the groups in the service before importing again: of those that are there, ${takesOver("ID")}`,
      }
    : {
        severity: "error",
        code: "listing/not-imported",
        summary: `nothing was imported: ${said}`,
        detail: outcome.hint,
      };
}
