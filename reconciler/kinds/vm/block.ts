/** What the service shows of a VM, as a block of a file. */
import { type BlockFields, lifecycleBlock, type NamesTaken, nameBlock } from "../../config/live-blocks";
import type { YamlBlock } from "../../config/yaml/write";
import type { VmDisks } from "../../core/model/disks";
import { type FieldRow, observedVmFields, vmFields } from "../../core/model/fields";
import { type LiveVm, showsAddresses } from "../../core/model/live";

export function blockOfVm(vm: LiveVm, disks: VmDisks, names: NamesTaken, key?: string): YamlBlock {
  const naming = nameBlock("vm", vm, names, key);
  const notes = [...naming.notes];
  const fields: BlockFields = { ...naming.fields };
  const missing: string[] = [];
  const keep = (name: string, value: string | number | undefined, absent: FieldRow["absent"] = "missing"): void => {
    if (value !== undefined && value !== "") fields[name] = value;
    else if (absent === "missing") missing.push(name);
  };
  for (const own of observedVmFields) keep(vmFields[own].field, vm[own], vmFields[own].absent);
  if (disks.root?.sizeGb !== undefined && disks.root.sizeGb !== vmFields.rootSizeGb.absent.value)
    fields["root_size"] = disks.root.sizeGb;
  if (disks.told && disks.data === undefined) {
    fields["size"] = 1;
    notes.push("no data volume is attached to it; size is what a replacement would get");
  } else keep("size", disks.data?.sizeGb);
  if (vm.floatingIp === undefined && vm.privateIp !== undefined) {
    fields["skip_floating_ip"] = true;
    if (!showsAddresses(vm))
      notes.push("a public address may not show while it does not run: take skip_floating_ip out if it has one");
  }
  // A whole file says it once, for all of its VMs.
  if (key !== undefined) missing.push(vmFields.userId.field);
  if (missing.length > 0)
    notes.push(`fill in: ${missing.join(", ")} (the service does not show ${missing.length === 1 ? "it" : "them"})`);
  if (vm.phase !== "running" && vm.phase !== "stopped" && vm.status !== undefined)
    notes.push(`its state was ${vm.status}`);
  return { kind: "vm", key: naming.key, fields: { ...fields, ...lifecycleBlock(naming.ignored) }, notes, id: vm.id };
}
