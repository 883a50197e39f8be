/** A world, and what a run left undone, as lines. */
import type { WorldDump } from "../../emulator";
import type { RunReport } from "../engine/run-plan";

export const undoneLines = ({ steps }: Pick<RunReport, "steps">): string[] =>
  steps.flatMap(({ step, result }) =>
    result.end === "done" ? [] : [`${step.title}: ${result.message ?? result.end}`],
  );

/** The lines of two worlds are equal when the worlds are, whatever their ids and times. */
export function describeWorld(world: WorldDump): string[] {
  const vmName = new Map(world.vms.map(({ id, name }) => [id, name]));
  const groupName = new Map(world.groups.map(({ id, name }) => [id, name]));
  const flavorName = new Map(world.flavors.map(({ id, name }) => [id, name]));
  const imageName = new Map(world.images.map(({ id, name }) => [id, name]));
  const lines = [
    ...world.vms.map((vm) => {
      const flavor = flavorName.get(vm.flavor_id) ?? vm.flavor_id;
      const image = imageName.get(vm.image_id) ?? vm.image_id;
      return `vm ${vm.name}: ${vm.status}, ${flavor}, ${image}, ${vm.region}, root ${vm.root_size} GB`;
    }),
    ...world.volumes.map(({ name, size, attached_to, root }) => {
      const place = attached_to === null ? "attached to nothing" : `on ${vmName.get(attached_to) ?? attached_to}`;
      return `volume ${name}: ${size} GB, ${place}${root ? ", root" : ""}`;
    }),
    ...world.groups.map(({ name, description }) => `group ${name}${description === "" ? "" : `: ${description}`}`),
    ...world.rules.map((rule) => {
      const { direction, ether_type, protocol, port_range_min, port_range_max, normalized_cidr, remote_group_id } =
        rule;
      const ports = port_range_min === null ? "" : ` ${port_range_min}-${port_range_max}`;
      const remote =
        remote_group_id === null
          ? (normalized_cidr ?? "anywhere")
          : (groupName.get(remote_group_id) ?? remote_group_id);
      const group = groupName.get(rule.security_group_id) ?? rule.security_group_id;
      return `rule of ${group}: ${direction} ${ether_type} ${protocol ?? "any"}${ports} ${remote}`;
    }),
  ];
  return lines.sort();
}

/** What has a name, as kind and name; a rule has none. */
const thingIn = (line: string): string => /^(?!rule )\w+ [^:]+/.exec(line)?.[0] ?? "";

/** What is there more than once, and more often than it should be. */
export function twinAmong(lines: readonly string[], expected: readonly string[]): string | undefined {
  const times = (all: readonly string[], thing: string): number => all.filter((line) => thingIn(line) === thing).length;
  return lines.map(thingIn).find((thing) => thing !== "" && times(lines, thing) > Math.max(1, times(expected, thing)));
}
