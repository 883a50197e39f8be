/** One look at the VMs of a project. */
import type { Address } from "../../core/model/address";
import type { Desired } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import {
  type Absent,
  type Look,
  notInList,
  notLookedAt,
  shownAsGone,
  type Unobserved,
} from "../../core/model/evidence";
import { told, toSay } from "../../core/model/fix";
import { allOfKind } from "../../core/model/kinds";
import type { LiveVm } from "../../core/model/live";
import type { Accepted } from "../../core/model/outcome";
import type { RecordedVm, State } from "../../core/model/recorded";
import {
  cannotLook,
  type LookOptions,
  type LooksWanted,
  type Observed,
  observeEach,
  openLook,
  unobservedBy,
  wantsNothing,
} from "../../engine/observe";
import { readFailed } from "../../engine/read-failed";
import type { ServiceReader } from "../../service/client";

/** One part for each ability to look at VMs: the list, one by one, or not at all. */
export async function observeVms(
  client: ServiceReader,
  asked: LooksWanted,
  desired: Desired,
  state: State,
  findings: Diagnostic[],
  options: LookOptions & { readonly young: ReadonlySet<string> },
): Promise<Observed<LiveVm>> {
  const looks = new Map<string, Look<LiveVm>>();
  const read = (wanted: ReadonlySet<string>): Promise<readonly string[]> =>
    observeEach("vm", wanted, (id) => client.getVm(id, options), looks, findings);
  const { known: ids } = asked;
  const concerned = ids.size > 0 || allOfKind(desired.resources, "vm").length > 0 || state.intents.size > 0;
  if (wantsNothing(asked)) return { looks, unlisted: notLookedAt, forbidden: [], listed: false };
  if (client.can.seesVms === "list") {
    if (!concerned) return { listed: false, looks, unlisted: notLookedAt, forbidden: [] };
    const { listed, refused, unlisted } = await openLook("vm", client, asked, findings, options);
    if (listed === undefined)
      return { looks, unlisted, forbidden: refused === true ? [] : await read(asked.wanted), listed: false };
    for (const vm of listed) looks.set(vm.id, { seen: "yes", value: vm });
    const others = [...ids].filter((id) => !looks.has(id));
    const forbidden = await lookAtUnlisted(client, new Set(others), looks, findings, options, state);
    const lacking = others.find((id) => looks.get(id)?.seen === "yes");
    if (lacking === undefined) return { listed: true, looks, unlisted, forbidden };
    // The list is behind, or was cut: an open create that it does not show may have been done.
    const lacks: Unobserved = { seen: "unobserved", reason: `the list of VMs lacks ${lacking}, which is there` };
    const isOpen = [...state.intents.values()].some(({ operation }) => operation === "vm.create");
    return { listed: !isOpen, looks, unlisted: lacks, forbidden };
  }
  const unlisted = cannotLook("VMs");
  if (client.can.seesVms === "each") {
    return { looks, unlisted, forbidden: await read(asked.wanted), listed: false };
  }
  if (ids.size > 0)
    findings.push({
      severity: "note",
      code: "plan/vms-unobserved",
      summary: `${ids.size} ${ids.size === 1 ? "VM is" : "VMs are"} known from the state alone: this service has no way to look at VMs`,
      detail: "Changes that others make in the service are not seen.",
    });
  return { looks, unlisted, forbidden: [], listed: false };
}

/**
 * A list may be behind, or lose an entry from one page to the next while it is read. What the state knows and the list
 * does not show is asked for by itself, or looked for once more where there is no such read.
 */
async function lookAtUnlisted(
  client: ServiceReader,
  unlisted: ReadonlySet<string>,
  looks: Map<string, Look<LiveVm>>,
  findings: Diagnostic[],
  { young, ...options }: LookOptions & { readonly young: ReadonlySet<string> },
  state: State,
): Promise<readonly string[]> {
  if (unlisted.size === 0) return [];
  if (client.can.readsOneVm) return observeEach("vm", unlisted, (id) => client.getVm(id, options), looks, findings);
  const listed = await client.listVms({ ...options, proves: true });
  if (listed.status !== "accepted") findings.push(readFailed("the list of VMs", listed));
  else for (const vm of listed.value) if (unlisted.has(vm.id)) looks.set(vm.id, { seen: "yes", value: vm });
  const outside = listed.status === "accepted" ? outsideOf(listed, state) : new Map<string, RecordedVm>();
  for (const id of unlisted) {
    if (looks.has(id)) continue;
    // Two lists in a row may lack a VM that was listed before: within its window that proves nothing.
    if (young.has(id)) {
      looks.set(id, { seen: "unobserved", reason: "it is so young that the list of VMs may not show it" });
      findings.push({
        severity: "warning",
        code: "plan/not-listed-yet",
        summary: `VM ${id} was created a moment ago, and the list of VMs does not show it`,
        detail: "A list may be behind for a while (service.timing.discovery_window), so this plan counts it as there.",
        fix: "plan again when that time is over; apply waits for it and looks again by itself",
      });
      continue;
    }
    const record = outside.get(id);
    if (record !== undefined) {
      const reason = `VMs are listed region by region, and its region ${record.region} is not shown any more`;
      looks.set(id, { seen: "unobserved", reason });
      findings.push(uncertain(record.address, `${record.address}: VM ${id} counts as existing: ${reason}`));
    } else looks.set(id, listed.status === "accepted" ? lackedBy(listed, "the list of VMs", id) : unobservedBy(listed));
  }
  return [];
}

/** What is in a region that was not read is in no list. By its id. */
const outsideOf = ({ regions }: Accepted<unknown>, { resources }: State): ReadonlyMap<string, RecordedVm> =>
  new Map(
    regions === undefined
      ? []
      : allOfKind(resources.values(), "vm").flatMap((record) =>
          record.id === undefined || record.region === undefined || regions.has(record.region.toLowerCase())
            ? []
            : [[record.id, record]],
        ),
  );

const uncertain = (address: Address, summary: string): Diagnostic => ({
  severity: "warning",
  code: "plan/not-listed-yet",
  summary,
  ...told([
    toSay(
      ["check that the credential may see the region; if it was closed with the VM in it: ", ["state rm", address]],
      "check that the credential may see the region; if it was closed with the VM in it: pulumi state delete with its URN",
    ),
  ]),
  address,
});

/** A list that lacks a resource, or shows it in a state that the dialect calls gone. */
function lackedBy({ goneAs }: Accepted<unknown>, list: string, id: string): Absent {
  const word = goneAs?.get(id);
  return word === undefined ? notInList(list) : shownAsGone(list, word);
}
