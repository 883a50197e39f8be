/** Every VM of the project: what the service shows, and which address manages the VM. */
import { type Address, inAddressOrder } from "../core/model/address";
import { allOfKind } from "../core/model/kinds";
import type { LiveVm } from "../core/model/live";
import type { State } from "../core/model/recorded";
import { columnsTable } from "./state-text";
import { countOf } from "./style";

export interface VmRow {
  /** `null` when this project's state does not manage the VM. */
  readonly address: Address | null;
  readonly id: string | null;
  readonly name: string | null;
  /** The service's own word; `null` when the VM was not seen. */
  readonly status: string | null;
  readonly flavor: string | null;
  readonly private_ip: string | null;
  readonly floating_ip: string | null;
}

/** `live`: absent where VMs cannot be listed. Managed VMs come first, then the others by their names. */
export function vmRows(state: Pick<State, "resources">, live: readonly LiveVm[] | undefined): VmRow[] {
  const seen = new Map((live ?? []).map((vm) => [vm.id, vm]));
  const managed = new Set<string>();
  const rows: VmRow[] = [];
  for (const record of allOfKind(inAddressOrder(state.resources.values()), "vm")) {
    const vm = record.id === undefined ? undefined : seen.get(record.id);
    if (vm !== undefined) managed.add(vm.id);
    rows.push(vmRowOf(vm ?? { ...record, status: undefined }, record.address));
  }
  const others = (live ?? []).filter(({ id }) => !managed.has(id));
  return [...rows, ...others.sort((a, b) => (a.name < b.name ? -1 : 1)).map((vm) => vmRowOf(vm, null))];
}

type ListedVm = Pick<LiveVm, "name" | "status" | "flavor" | "privateIp" | "floatingIp"> & { readonly id?: string };

const vmRowOf = (vm: ListedVm, address: Address | null): VmRow => ({
  ...{ address, id: vm.id ?? null, name: vm.name, status: vm.status ?? null, flavor: vm.flavor ?? null },
  ...{ private_ip: vm.privateIp ?? null, floating_ip: vm.floatingIp ?? null },
});

/** `flavors`: the names of flavors by id, as far as the service lists them. */
export function vmListText(rows: readonly VmRow[], flavors: ReadonlyMap<string, string>): string {
  if (rows.length === 0) return "There are no VMs.\n";
  const lines = rows.map((row) => [
    row.address ?? "",
    row.name ?? "",
    row.status ?? (row.id === null ? "(not known)" : "(not seen)"),
    row.flavor === null ? "" : (flavors.get(row.flavor) ?? row.flavor),
    row.private_ip ?? "",
    row.floating_ip ?? "",
    row.id ?? "",
  ]);
  const unmanaged = rows.filter(({ address }) => address === null).length;
  const others = unmanaged === 0 ? "" : `; ${unmanaged} not managed here`;
  const head = ["ADDRESS", "NAME", "STATUS", "FLAVOR", "PRIVATE IP", "FLOATING IP", "ID"];
  return `${columnsTable([head, ...lines])}\n${countOf(rows.length, "VM")}${others}.\n`;
}
