/** `reconcile pull`: the YAML, with imports, for what exists; applying it changes nothing. Sends only reads. */

import { dirname, relative, resolve } from "node:path";
import { readDesired } from "../../config/read/desired";
import { worldBlocks } from "../../config/world-blocks";
import { type Plain, plainOf, writeYaml, type YamlBlock } from "../../config/yaml/write";
import type { Assertion, Party } from "../../core/model/assertion";
import { closedWith } from "../../core/model/desired";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { identity, identityKey } from "../../core/model/identity";
import { allOfKind } from "../../core/model/kinds";
import { type PortRange, portsWritten } from "../../core/model/rule";
import { ifAny, onlyDefined } from "../../core/text/objects";
import { type Pulled, pullWorld, type Wanted } from "../../engine/pull";
import { judgeFile } from "../../kinds/group/reachability/findings";
import { proposeAssertions } from "../../kinds/group/reachability/propose";
import { partyText } from "../../kinds/group/reachability/read";
import { todayUtc } from "../../outside/clock";
import { command, type Invocation, noArguments } from "../command";
import { openWorkspaceService, stateIn } from "../compose";
import { asDiagnostics } from "../crash";
import { commonFlags } from "../flags";
import type { Session } from "../session";
import { environmentsOf, readSiblings } from "../siblings";
import { openLocatedStore } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";
import { checkTarget, putYaml, schemaFor } from "../yaml-output";

export const pullCommand = command({
  usage: "pull [--vm ID|NAME]… [--volume ID]… [--group ID]… [--out FILE]",
  summary: "writes the YAML for what exists",
  section: "Taking over and handing on",
  examples: [
    ["reconcile pull", "the YAML for what exists; applying it changes nothing"],
    ["reconcile pull --assert", "with assertions that the groups keep as they are, for you to prune"],
  ],
  flags: ["file", "vm", "volume", "group", "project", "region", "user-id", "out", "force", "assert", ...commonFlags],
  positionals: noArguments,
  async run(invocation) {
    const { flags, output } = invocation;
    checkTarget(invocation);
    const workspace = readWorkspace(invocation, { args: [], needed: false });
    const service = await openWorkspaceService(workspace, invocation);
    try {
      const pulled = await pullWorld(service.client, {
        vms: orAll(flags.vm),
        volumes: orAll(flags.volume),
        groups: orAll(flags.group),
      });
      const diagnostics = [...service.diagnostics, ...pulled.diagnostics];
      // Part of a world would pass for the whole, so nothing is written.
      if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics });
      const world = worldBlocks(pulled);
      const { left } = world;
      const { blocks, owner } = ownerOnce(world.blocks);
      const asserted = flags.assert === true ? { reachability: assertionsFor(blocks) } : {};
      const { head, missing } = headFor(invocation, workspace, pulled.vms.length > 0, owner);
      const already = await heldAlready({ invocation, workspace, service }, pulled);
      const notSeen = [...pulled.unseen, ...already.notShown];
      const notes = [
        "What existed when `reconcile pull` looked; applying it changes nothing.",
        ...(missing.length === 0
          ? []
          : [`fill in: ${missing.join(", ")} (the service does not show them); reconcile validate says where`]),
        ...already.notes,
        ...left,
        ...notSeen.map((what) => `not seen: ${what}`),
      ];
      putYaml(
        invocation,
        writeYaml({
          ...onlyDefined({ schema: flags.out === undefined ? undefined : schemaFor(flags.out) }),
          notes,
          head,
          blocks,
          ...asserted,
        }),
      );
      const filled = missing.map(
        (name): Diagnostic => ({
          severity: "warning",
          code: "pull/fill-in",
          summary: `${name} is in no record; fill it in`,
          fix: `reconcile pull --${name.replace("_", "-")} …`,
        }),
      );
      const unseen = notSeen.map(
        (what): Diagnostic => ({ severity: "note", code: "pull/not-seen", summary: `not seen: ${what}` }),
      );
      return output.finish({ exitCode: 0, diagnostics: [...diagnostics, ...already.unread, ...filled, ...unseen] });
    } finally {
      await service.close();
    }
  },
});

const orAll = (given: readonly string[] | undefined): Wanted => given ?? "all";

/**
 * What of it this project and the other environments of its files have already, as far as their states can be read, and
 * the VMs of this project that the list lacks.
 */
async function heldAlready(session: Omit<Session, "store">, { vms, volumes, groups, others }: Pulled) {
  const pulled = [...vms.map(({ vm }) => vm), ...volumes, ...groups, ...others];
  const found = new Set(pulled.map(({ kind, id }) => identityKey(identity(kind, id))));
  const notes: string[] = [];
  const unread: Diagnostic[] = [];
  const notShown: string[] = [];
  const areVmsListed = session.invocation.flags.vm === undefined && session.service.client.can.seesVms === "list";
  const note = (whose: string, id: string, as: string): unknown =>
    notes.push(`managed by ${whose} already, take it out of here: ${id} is ${as}`);
  try {
    const store = openLocatedStore(session.invocation, session.workspace);
    const siblings = await readSiblings(environmentsOf({ ...session, store }));
    unread.push(...siblings.warnings);
    for (const { kind, id } of pulled) {
      const held = siblings.find(kind, { id });
      if (held !== undefined) note(`the ${held.sibling}`, id, held.record.address);
    }
    const records = [...(await stateIn(store)).resources.values()];
    for (const { kind, id, address } of records)
      if (id !== undefined && found.has(identityKey(identity(kind, id)))) note("this project", id, address);
    for (const { id, address } of areVmsListed ? allOfKind(records, "vm") : [])
      if (id !== undefined && !found.has(identityKey(identity("vm", id))))
        notShown.push(`${id}, which this project manages as ${address}`);
  } catch (error) {
    const told = asDiagnostics(error);
    if (told === undefined) throw error;
    unread.push(...told.map((one) => ({ ...one, severity: "warning" as const })));
    notes.push(...told.map(({ summary }) => `managed by this project already: nobody knows what, for ${summary}`));
  }
  return { notes, unread, notShown };
}

/** Assertions that hold what the groups admit now, read back from the blocks that are written. */
function assertionsFor(blocks: readonly YamlBlock[]) {
  const groups = allOfKind(blocks, "group");
  const text = writeYaml({ head: { version: 1 }, blocks: groups });
  const { desired } = readDesired([{ file: "reconcile.yaml", text }]);
  if (desired === undefined) return [];
  const holds = (assertion: Assertion): boolean =>
    judgeFile(closedWith(desired, { reachability: [assertion] }), todayUtc()).findings.length === 0;
  return proposeAssertions(desired, holds).map(({ kind, from, to, ports }) => {
    const parties = from.map(partyInFile);
    const [first, ...more] = parties;
    const byProtocol = ports.map(({ protocol, ports: range }) => [protocol, rangeText(range)] as const);
    const listed = (["tcp", "udp"] as const).flatMap((protocol) => {
      const its = byProtocol.flatMap(([name, range]) => (name === protocol ? [range] : []));
      return its.length === 0 ? [] : [[protocol, its.length === 1 && its[0] !== undefined ? its[0] : its] as const];
    });
    return {
      [kind]: {
        from: first !== undefined && more.length === 0 ? first : parties,
        to: partyInFile(to),
        ...Object.fromEntries(listed),
      },
    };
  });
}

/** A group that is not in the file has no address there. */
const partyInFile = (party: Party): Plain =>
  "group" in party && "id" in party.group ? { id: party.group.id } : partyText(party);

const rangeText = (range: PortRange | undefined): string | number =>
  range === undefined ? "any" : portsWritten(range);

/** A `user_id` that several VMs share is written once, under `defaults`. */
function ownerOnce(blocks: readonly YamlBlock[]): { readonly blocks: readonly YamlBlock[]; readonly owner?: string } {
  const vms = allOfKind(blocks, "vm");
  const blocksOfVms = new Set<YamlBlock>(vms);
  const [owner, ...others] = new Set(vms.map(({ fields }) => fields["owner"]));
  if (vms.length < 2 || typeof owner !== "string" || others.length > 0) return { blocks };
  return {
    owner,
    blocks: blocks.map((block) => {
      const { owner: _, ...fields } = block.fields;
      return blocksOfVms.has(block) ? { ...block, fields } : block;
    }),
  };
}

const dialectNamed = ({ dialect }: Workspace["desired"]["service"]): string | undefined =>
  dialect !== undefined && "path" in dialect ? resolve(dirname(dialect.source.file), dialect.path) : undefined;

function headFor({ flags }: Invocation, workspace: Workspace, hasVms: boolean, owner: string | undefined) {
  const { service } = workspace.desired;
  const project = flags.project ?? workspace.desired.project;
  const region = flags.region ?? workspace.desired.region;
  const userId = flags["user-id"];
  const baseUrl = flags["base-url"] ?? service.baseUrl;
  const folder = dirname(resolve(flags.out ?? "reconcile.yaml"));
  const dialect = flags.dialect ?? dialectNamed(service);
  const { dialect: said } = service;
  const inline = said !== undefined && "inline" in said ? plainOf(said.inline) : undefined;
  const settings = onlyDefined({
    base_url: baseUrl,
    dialect: dialect === undefined ? inline : relative(folder, resolve(dialect)),
  });
  const required = { project, region, user_id: userId };
  const vm = onlyDefined({ owner, user_id: userId });
  return {
    head: {
      version: 1,
      ...onlyDefined({
        project,
        region,
        service: ifAny(settings),
        defaults: Object.keys(vm).length === 0 ? undefined : { vm },
      }),
    },
    missing: hasVms ? Object.entries(required).flatMap(([name, value]) => (value === undefined ? [name] : [])) : [],
  };
}
