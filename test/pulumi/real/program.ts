/** What every program of this suite begins with, and the service's own view of what came of it. */
import type { RealStack } from "./stack";

export const head = `
const pulumi = require("@pulumi/pulumi");
const cloud = require("reconcile-cloud/pulumi");
const config = new pulumi.Config();
const opts = config.get("mode") === "plugin" ? { provider: new cloud.Provider("cloud") } : {};
const vmArgs = { flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042", project: "acme", region: "in-west-1", size: 10 };
`;

export const modes = ["dynamic", "plugin"] as const;
export type Mode = (typeof modes)[number];

/** The URN that ends with a name. */
export async function urnOf(stack: RealStack, name: string): Promise<string> {
  const { text } = await stack.pulumi("stack", "export");
  const { deployment } = JSON.parse(text.slice(text.indexOf("{"))) as { deployment: { resources: { urn: string }[] } };
  const found = deployment.resources.find(({ urn }) => urn.endsWith(`::${name}`));
  if (found === undefined) throw new Error(`no ${name} in ${text}`);
  return found.urn;
}

/** Whether all is there as it should be: who hangs where, and which ports are open. */
export function worldOf({ emulator }: RealStack) {
  const { vms, volumes, groups, rules } = emulator.dump();
  const nameOf = (id: string | null | undefined) => vms.find((vm) => vm.id === id)?.name;
  return {
    vms: vms.map(({ name, status }) => `${name} ${status}`),
    volumes: volumes
      .filter(({ root, name }) => !root && !name.endsWith("-data"))
      .map(({ name, size, attached_to }) => `${name} ${size} ${nameOf(attached_to) ?? "-"}`)
      .sort(),
    groups: groups.flatMap(({ name }) => (name === "default" ? [] : [name])),
    ports: rules.flatMap(({ port_range_min }) => (typeof port_range_min === "number" ? [port_range_min] : [])).sort(),
  };
}
