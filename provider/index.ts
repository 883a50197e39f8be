/** Virtual machines, volumes and security groups for Pulumi programs, over the same engine as the `reconcile` command. */
export * from "./desired-state";
export * from "./generated/resources";
export type { ServiceArgs } from "./provider-resources";
export { DynamicProvider, Provider } from "./provider-resources";
