/**
 * What the five resources have in common. A resource is dynamic, served from the program's own package, unless it is
 * given a Provider, which is the packaged plugin; the properties are the same.
 */
import * as pulumi from "@pulumi/pulumi";
import { capturedKey, capturedProvider, dynamicToken, pluginToken } from "./captured";
import { Provider } from "./provider-resources";

export abstract class CloudResource extends pulumi.CustomResource {
  constructor(
    type: string,
    properties: readonly string[],
    name: string,
    args: object,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    // A property that is not named here never becomes an output.
    const props: pulumi.Inputs = Object.fromEntries(properties.map((property) => [property, undefined]));
    Object.assign(props, args);
    if (properties.includes("name") && opts.id === undefined) props["name"] ??= name;
    const byPlugin = isByPlugin(opts, type);
    if (!byPlugin) props[capturedKey] = capturedProvider(type);
    // The former token: a stack can move from dynamic resources to the plugin without touching the cloud. What is only
    // looked up has nothing to move, and the SDK cannot work out an alias for it.
    const aliases =
      byPlugin && opts.id === undefined ? [...(opts.aliases ?? []), { type: dynamicToken(type) }] : opts.aliases;
    super(byPlugin ? pluginToken(type) : dynamicToken(type), name, props, {
      ...opts,
      ...(aliases === undefined ? {} : { aliases }),
    });
  }
}

function isByPlugin(opts: pulumi.CustomResourceOptions, type: string): boolean {
  if (opts.provider !== undefined) return opts.provider instanceof Provider;
  // A component hands its providers down; what it hands down for the plugin's name is a Provider of ours.
  const parent = opts.parent as { getProvider?: (token: string) => unknown } | undefined;
  return parent?.getProvider?.(pluginToken(type)) instanceof Provider;
}
