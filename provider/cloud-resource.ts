/**
 * What the five resources have in common. A resource is dynamic, served from the program's own package, unless it is
 * given a Provider, which is the packaged plugin; the properties are the same.
 */
import * as pulumi from "@pulumi/pulumi";
import { capturedKey, capturedProvider, dynamicToken, type ProgramNote, pluginToken, programKey } from "./captured";
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
    const byPlugin = isByPlugin(opts, type);
    if (!byPlugin) props[capturedKey] = capturedProvider(type);
    if (opts.id === undefined) {
      props[programKey] = noteOf(type, name, args, opts);
      if (properties.includes("name")) props["name"] ??= name;
    }
    // The former token: a stack can move from dynamic resources to the plugin without touching the cloud. What is only
    // looked up has nothing to move, and the SDK cannot work out an alias for it.
    const aliases =
      byPlugin && opts.id === undefined ? [...(opts.aliases ?? []), { type: dynamicToken(type) }] : opts.aliases;
    super(byPlugin ? pluginToken(type) : dynamicToken(type), name, props, {
      ...opts,
      // The engine's record repeats the inputs, and some of them may be secrets.
      additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), "recorded"],
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

function noteOf(type: string, name: string, args: object, { parent }: pulumi.CustomResourceOptions) {
  const above = parent as { __pulumiType?: string; __name?: string } | undefined;
  const of = [pulumi.getProject(), pulumi.getStack(), above?.__pulumiType, above?.__name];
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
  const secrets = Promise.all(
    given.map(async ([property, value]) => ((await pulumi.isSecret(pulumi.output(value))) ? [property] : [])),
  );
  return {
    of: [...of, type, name].join("/"),
    ...("name" in args && args.name !== undefined ? {} : { named: true }),
    secrets: secrets.then((found) => found.flat()),
  } satisfies pulumi.Inputs & { [K in keyof ProgramNote]: unknown };
}
