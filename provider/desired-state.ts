/** A whole file of desired state in a program: one component with a resource for each address of the file. */
import * as pulumi from "@pulumi/pulumi";
import { fieldsIn, ifAny, noteRemoved, onlyDefined, type Removal, replacedIn } from "../reconciler/for-provider";
import { type DesiredPart, isPartReference, isPartText, type PartReference } from "../reconciler/index";
import { noteRemovedFunction, pluginToken, programKey } from "./captured";
import { detaches, type FileSettings, partsOfFiles } from "./components/desired-files";
import type { Parts } from "./components/parts";
import { assertInputs, desiredState } from "./components/table";
import { SecurityGroup, SecurityGroupRule, Vm, Volume, VolumeAttachment } from "./generated/resources";

export interface DesiredStateArgs extends FileSettings {
  /** The files. Several are one desired state. */
  readonly files: readonly string[];
  /** Volumes may be detached where a change needs it: you state that they are unmounted or synced then. */
  readonly flushConfirmed?: boolean;
}

export interface FromYamlOptions extends Omit<DesiredStateArgs, "files"> {
  /** The component's name; the path of the file when left out. */
  readonly name?: string;
}

const classes = { Vm, Volume, VolumeAttachment, SecurityGroup, SecurityGroupRule } as const;
type AnyResource = Vm | Volume | VolumeAttachment | SecurityGroup | SecurityGroupRule;

/** The resources of a file, by the addresses they have there: vm.db, volume.db-data, group.web. */
export class DesiredState extends pulumi.ComponentResource {
  readonly resources: Readonly<Record<string, AnyResource>>;
  /** The ids, by address. */
  readonly ids: pulumi.Output<Record<string, string>>;
  /** The outputs of the file, by name; a sensitive output is a secret. */
  readonly outputs: Readonly<Record<string, pulumi.Output<unknown>>>;

  /** The files' `service` block is left to the stack's configuration. */
  constructor(name: string, args: DesiredStateArgs, opts?: pulumi.ComponentResourceOptions) {
    const { parts, outputs, warnings, removed = [] } = partsOrProblems(args);
    for (const line of warnings) void pulumi.log.warn(line);
    super("reconcile-cloud:index:DesiredState", name, {}, opts);
    const made: Record<string, AnyResource> = {};
    const told = pulumi.runtime.isDryRun()
      ? undefined
      : { component: new Promise<string>((resolve) => void this.urn.apply(resolve)), removed };
    const note = told === undefined || this.isByPlugin() ? {} : { [programKey]: { removed: told } };
    for (const part of parts) made[part.address] = makeResource(part, made, args, { ...opts, parent: this }, note);
    this.resources = made;
    this.ids = pulumi.output(Object.fromEntries(Object.entries(made).map(([address, { id }]) => [address, id])));
    this.outputs = Object.fromEntries(
      outputs.map(({ name: output, value, sensitive }) => {
        const worth = pulumi.output(withIds(value, made));
        return [output, sensitive ? pulumi.secret(worth) : worth];
      }),
    );
    const noted = pulumi.output(told === undefined ? undefined : this.noteRemoved(told));
    // The engine deletes what is left out only after the component has told its outputs.
    this.registerOutputs(noted.apply(() => ({ ids: this.ids, outputs: this.outputs })));
  }

  private isByPlugin(): boolean {
    return this.getProvider(pluginToken("Vm")) !== undefined;
  }

  /**
   * The note has to be where the provider works, which may be another folder than the program's, as with the Automation
   * API. The plugin is told by a call, and a provider of dynamic resources by the parts.
   */
  private async noteRemoved(told: { readonly component: Promise<string>; readonly removed: readonly Removal[] }) {
    if (this.isByPlugin()) await pulumi.runtime.invoke(pluginToken(noteRemovedFunction), told, { parent: this });
    else await noteRemoved(await told.component, told.removed);
  }

  static fromYaml(
    files: string | readonly string[],
    { name, ...settings }: FromYamlOptions = {},
    opts?: pulumi.ComponentResourceOptions,
  ): DesiredState {
    const paths = typeof files === "string" ? [files] : files;
    return new DesiredState(name ?? paths.join(","), { files: paths, ...settings }, opts);
  }

  vm(key: string): Vm {
    return this.find(`vm.${key}`, Vm);
  }

  volume(key: string): Volume {
    return this.find(`volume.${key}`, Volume);
  }

  group(key: string): SecurityGroup {
    return this.find(`group.${key}`, SecurityGroup);
  }

  /** A resource in a component needs its whole address: `shop/vm.web[0]`. */
  private find<T extends AnyResource>(wanted: string, type: new (...args: never[]) => T): T {
    const resource = this.resources[wanted] ?? this.resources[wanted.slice(wanted.indexOf(".") + 1)];
    if (!(resource instanceof type))
      throw new pulumi.RunError(`the file declares no ${wanted}; it has ${Object.keys(this.resources).join(", ")}`);
    return resource;
  }
}

function partsOrProblems(args: DesiredStateArgs): Parts {
  try {
    assertInputs(desiredState, { ...args });
    return partsOfFiles(args.files, args);
  } catch (error) {
    throw new pulumi.RunError(error instanceof Error ? error.message : String(error));
  }
}

function makeResource(
  part: DesiredPart,
  made: Readonly<Record<string, AnyResource>>,
  { flushConfirmed }: DesiredStateArgs,
  { parent, retainOnDelete }: pulumi.ComponentResourceOptions,
  note: object,
): AnyResource {
  const args = {
    ...note,
    ...fieldsIn(withIds(part.inputs, made)),
    ...(flushConfirmed === true && detaches(part.type) ? { flushConfirmed } : {}),
  };
  const deletedWith = part.deletedWith === undefined ? undefined : made[part.deletedWith];
  const opts: pulumi.CustomResourceOptions = onlyDefined({
    ...{ parent, retainOnDelete, deletedWith },
    protect: part.protect ? true : undefined,
    ignoreChanges: ifAny([...part.ignoreChanges]),
    aliases: part.formerly?.map((name) => ({ name })),
  });
  // `partsOf` gives each part the inputs of its type.
  const make = classes[part.type] as new (
    name: string,
    args: object,
    opts: pulumi.CustomResourceOptions,
  ) => AnyResource;
  return new make(part.address, args, opts);
}

/** An address that the service does not show must not become a rule without an address, which would admit everybody. */
function propertyOf({ part, property }: PartReference, made: Readonly<Record<string, AnyResource>>): unknown {
  const resource = made[part];
  if (resource === undefined) throw new pulumi.RunError(`the file declares no ${part}`);
  if (property === undefined) return resource.id;
  const found: pulumi.Input<string | number | undefined> = Reflect.get(resource, property);
  return pulumi.output(found).apply((value) => {
    if (value !== undefined && value !== null) return String(value);
    throw new pulumi.RunError(`the service does not show the ${property} of ${part}`);
  });
}

/** The inputs with the ids of other parts in the place of their addresses. */
const withIds = (value: unknown, made: Readonly<Record<string, AnyResource>>): unknown =>
  replacedIn(value, (part) => {
    if (isPartReference(part)) return propertyOf(part, made);
    // A piece is a text, or a reference, whose property is a text.
    const textOf = (piece: unknown) => withIds(piece, made) as pulumi.Input<string>;
    return isPartText(part) ? pulumi.concat(...part.pieces.map(textOf)) : part;
  });
