/**
 * What the five resources have in common. A resource is dynamic, served from the program's own package, unless it is
 * given a Provider, which is the packaged plugin; the properties are the same.
 */
import * as pulumi from "@pulumi/pulumi";
import {
  capturedKey,
  capturedProvider,
  dynamicToken,
  namesAreUnique,
  type ProgramNote,
  packageName,
  pluginToken,
  programKey,
} from "./captured";

/** The names of a resource's properties: what a program may give, and what the service adds. */
export interface PropertyNames {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/**
 * The SDK records a stack trace for each promise that it makes, several for a property, which costs more than
 * everything else that a program does here. The traces serve the search for promises that never end; the place of a
 * declaration is recorded apart from them.
 */
const framesKept = process.env["PULUMI_DEBUG_PROMISE_LEAKS"] === undefined ? 0 : undefined;

/** What the service deletes with another resource of this package. */
const goesWithAnother: ReadonlySet<string> = new Set(["SecurityGroupRule", "VolumeAttachment"]);

export abstract class CloudResource extends pulumi.CustomResource {
  constructor(type: string, names: PropertyNames, name: string, args: object, opts: pulumi.CustomResourceOptions = {}) {
    const byPlugin = isByPlugin(opts, type);
    const token = byPlugin ? pluginToken(type) : dynamicToken(type);
    const isLookup = opts.id !== undefined;
    if (!byPlugin && opts.import !== undefined)
      throw new pulumi.RunError(
        `${name} is a dynamic resource, of which Pulumi can import none: ${names.inputs.includes("adopt") ? 'write adopt: "<its id>" in the place of the option import' : "leave the option import out, since what is there already is taken over"}, or give it a Provider`,
      );
    if (!isLookup && opts.deletedWith instanceof CloudResource && !goesWithAnother.has(type))
      throw new pulumi.RunError(
        `${name}: the option deletedWith is for what the service deletes with the other resource, a SecurityGroupRule with its group or a VolumeAttachment with its VM. A ${type} stays there, and Pulumi would forget it and ask nobody to delete it: leave the option out, or write retainOnDelete: true where it is to stay`,
      );
    const props: pulumi.Inputs = {};
    // A property that is not named here never becomes an output. What the program leaves out of a resource that it
    // declares is not set, which the class says by itself (see unsetUntilGiven).
    for (const output of names.outputs) props[output] = undefined;
    if (isLookup || opts.import !== undefined) for (const input of names.inputs) props[input] = undefined;
    for (const [property, value] of Object.entries(args)) if (value !== undefined) props[property] = value;
    if (!byPlugin) props[capturedKey] = capturedProvider(type);
    if (!isLookup) {
      props[programKey] = { ...props[programKey], ...noteOf(token, name, props, opts) };
      if (names.inputs.includes("name")) props["name"] ??= name;
    }
    // A look-up has nothing to move, and the SDK cannot work out an alias for it.
    const aliases = isLookup
      ? opts.aliases
      : withFormerType(byPlugin ? dynamicToken(type) : pluginToken(type), opts.aliases);
    const ownOptions = {
      // Where only Pulumi's user wants the replacement (--replace, a taint), the engine does not ask the provider which
      // of the two goes first. With `adopt`, what is to be taken over must still exist then. What is retained keeps its
      // name: the new one is asked for first, and refused before anything is taken off the one that stays.
      ...(namesAreUnique.has(type) && (props["adopt"] === undefined || props["adopt"] === "none")
        ? { deleteBeforeReplace: opts.retainOnDelete !== true }
        : {}),
      ...opts,
      // The engine's record repeats inputs and outputs. The plugin sees which inputs are secrets; a dynamic provider does
      // not, and no provider sees which outputs are.
      ...(byPlugin && opts.additionalSecretOutputs === undefined
        ? {}
        : { additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), "recorded"] }),
      ...(aliases === undefined ? {} : { aliases }),
    };
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = framesKept ?? stackTraceLimit;
    try {
      super(token, name, props, ownOptions);
    } catch (error) {
      Error.stackTraceLimit = stackTraceLimit;
      if (error instanceof Error) Error.captureStackTrace(error, CloudResource);
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/**
 * The SDK would make an output of each property that the program leaves out, unknown in every preview; but these are
 * known, and not set.
 */
export function unsetUntilGiven(resource: { readonly prototype: object }, { inputs }: PropertyNames): void {
  for (const name of inputs)
    Object.defineProperty(resource.prototype, name, {
      configurable: true,
      get: () => pulumi.output(undefined),
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
      },
    });
}

/**
 * The other token: a stack can move from dynamic resources to the plugin, and back, without touching the cloud. Pulumi
 * combines no two aliases, so a resource that gets a new name, or parent, at the same time needs one of both.
 */
function withFormerType(type: string, aliases: pulumi.ResourceOptions["aliases"] = []) {
  const former = { type };
  const both = aliases.flatMap((one) =>
    typeof one === "string" || pulumi.Output.isInstance(one) || one instanceof Promise ? [] : [{ ...former, ...one }],
  );
  return [...aliases, ...both, former];
}

/** A provider is known by its package: another copy of this one, or a generated SDK, has a class of its own. */
function isByPlugin({ provider, parent }: pulumi.CustomResourceOptions, type: string): boolean {
  const given = provider as { getPackage?: () => string } | undefined;
  if (given !== undefined) return given.getPackage?.() === packageName;
  // A component hands its providers down, by the package that they are of.
  const component = parent as { getProvider?: (token: string) => unknown } | undefined;
  return component?.getProvider?.(pluginToken(type)) !== undefined;
}

function noteOf(token: string, name: string, props: pulumi.Inputs, { parent }: pulumi.CustomResourceOptions) {
  const secrets = Object.entries(props)
    .filter(([, value]) => mayBeSecret(value))
    .map(async ([property, value]) => ((await pulumi.isSecret(pulumi.output(value))) ? [property] : []));
  const urn = pulumi.createUrn(name, token, parent);
  return {
    // A promise, because an output would make the resource wait for its component, and the component for the resource.
    of: new Promise<string>((resolve) => void urn.apply(resolve)),
    ...(props["name"] === undefined ? { named: true } : {}),
    ...(secrets.length === 0 ? {} : { secrets: Promise.all(secrets).then((found) => found.flat()) }),
  } satisfies pulumi.Inputs & { [K in keyof ProgramNote]: unknown };
}

/** A plain value is no secret, and a map or a list of plain values holds none. */
const mayBeSecret = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (pulumi.Output.isInstance(value) || value instanceof Promise || Object.values(value).some(mayBeSecret));
