/**
 * Makes a component for a program in any language: registers the component and each of its parts with the engine that
 * asks, over the engine's own protocol. A part waits only for the parts whose ids or addresses it names.
 */
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb";
import type { RegisterResourceRequest, RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb";
import { noteRemoved, partsNamedIn, replacedIn } from "../../reconciler/for-provider";
import {
  type DesiredPart,
  isPartReference,
  isPartText,
  type PartReference,
  type Props,
  unknownValue,
  version,
} from "../../reconciler/index";
import { dynamicToken, nameIn, namesAreUnique, packageName, pluginDownloadUrl, pluginToken } from "../captured";
import type { Component, Parts } from "../components/parts";
import { assertInputs, components } from "../components/table";
import { isSecret, spelledOut, wrapSecret } from "../secrets";
import { channelOptions, type Log } from "./engine-log";
import { alias, type Empty, grpc, messages, ResourceMonitorClient, resources } from "./sdk";
import { readStruct, secretsIn, unwrap, unwrapAll, writeStruct } from "./wire";

interface Registered {
  readonly urn: string;
  /** Empty in the preview of a create, before there is an id. */
  readonly id: string;
  readonly properties: Props;
}

type Registering = ReadonlyMap<string, Promise<Registered>>;

export async function construct(request: ConstructRequest, log: Log) {
  const type = request.getType().split(":").at(-1);
  const component = components.find((one) => one.type === type);
  if (component === undefined) throw new Error(`${packageName} ${version} has no component ${request.getType()}`);
  const raw = readStruct(request.getInputs());
  const inputs = Object.fromEntries(
    Object.entries(unwrapAll(raw)).filter(([, value]) => value !== undefined && value !== null),
  );
  assertInputs(component, inputs);
  // Errors that the user has to correct are reported before anything is registered.
  const decided = component.partsOf(request.getName(), inputs);
  const made: Parts = decided ?? { parts: [], outputs: [], warnings: [notDecided] };
  const formerNames = formerNamesIn(request).map((name) => component.partsOf(name, inputs)?.parts ?? []);
  const monitor = new ResourceMonitorClient(
    request.getMonitorendpoint(),
    grpc.credentials.createInsecure(),
    channelOptions,
  );
  try {
    const self = await call<RegisterResourceResponse>((done) =>
      monitor.registerResource(componentRequest(request), done),
    );
    if (made.removed !== undefined && !request.getDryrun()) await noteRemoved(self.getUrn(), made.removed);
    for (const warning of made.warnings) log("warning", self.getUrn(), warning);
    const registering = new Map<string, Promise<Registered>>();
    const hidden = secretTexts(raw);
    for (const [index, part] of made.parts.entries())
      registering.set(
        part.address,
        registerPart(part, registering, async (seen) => {
          const formerly = formerNames.flatMap((parts) => parts[index]?.address ?? []);
          const one = await partRequest(withFormerNames(part, formerly), seen, request, self.getUrn(), hidden);
          return call<RegisterResourceResponse>((done) => monitor.registerResource(one, done));
        }),
      );
    const ended = await Promise.allSettled(registering.values());
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    const registered = new Map<string, Registered>();
    for (const [address, one] of registering) registered.set(address, await one);
    const state = decided === undefined ? undecided(component) : outputsOf(made, seenIn(registered), hidden);
    const struct = () => writeStruct(state);
    const outputs = new resources.RegisterResourceOutputsRequest();
    outputs.setUrn(self.getUrn());
    outputs.setOutputs(struct());
    await call<InstanceType<typeof Empty>>((done) => monitor.registerResourceOutputs(outputs, done));
    const urns = [...registered.values()].map(({ urn }) => urn);
    return answer(self.getUrn(), struct(), urns, Object.keys(state));
  } finally {
    monitor.close();
  }
}

/** The names that the component had before, by its aliases. */
const formerNamesIn = (request: ConstructRequest): readonly string[] =>
  request
    .getAliasesList()
    .map((one) => (one.getUrn() === "" ? (one.getSpec()?.getName() ?? "") : nameIn(one.getUrn())))
    .filter((name) => name !== "" && name !== request.getName());

/** The engine finds the former part by itself only where the names of parts begin with that of their component. */
const withFormerNames = (part: DesiredPart, names: readonly string[]): DesiredPart => ({
  ...part,
  formerly: [...(part.formerly ?? []), ...names.filter((name) => name !== part.address)],
});

const notDecided =
  "it depends on a value that this preview does not know which resources this component has, so it shows none of them: what it shows as deleted are the former ones, of which the update deletes only those that the component has no more. Where a protected one keeps the preview from its end, pulumi up --skip-preview does without it";

const undecided = ({ outputs }: Component): Props =>
  Object.fromEntries(Object.keys(outputs).map((name) => [name, unknownValue]));

const call = <T>(send: (done: (error: Error | null, response: T) => void) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    send((error, response) => (error === null ? resolve(response) : reject(error)));
  });

/** Registers the component itself, with the options that the program gave it. */
function componentRequest(request: ConstructRequest): RegisterResourceRequest {
  const own = new resources.RegisterResourceRequest();
  own.setType(request.getType());
  own.setName(request.getName());
  own.setParent(request.getParent());
  own.setObject(request.getInputs());
  own.setAcceptsecrets(true);
  own.setSupportspartialvalues(true);
  own.setDependenciesList(request.getDependenciesList());
  own.setAliasesList(request.getAliasesList());
  own.setAliasspecs(true);
  own.setDeletedwith(request.getDeletedwith());
  own.setReplaceonchangesList(request.getReplaceonchangesList());
  own.setIgnorechangesList(request.getIgnorechangesList());
  own.setAdditionalsecretoutputsList(request.getAdditionalsecretoutputsList());
  inherit(own, request);
  for (const [name, one] of request.getProvidersMap().entries()) own.getProvidersMap().set(name, one);
  for (const [name, one] of request.getInputdependenciesMap().entries())
    own.getPropertydependenciesMap().set(name, dependencies(one.getUrnsList()));
  return own;
}

/** The options that the parts take over from their component. */
function inherit(to: RegisterResourceRequest, request: ConstructRequest): void {
  const protect = request.getProtect();
  if (protect !== undefined) to.setProtect(protect);
  const retain = request.getRetainondelete();
  if (retain !== undefined) to.setRetainondelete(retain);
}

function dependencies(urns: readonly string[]) {
  const found = new resources.RegisterResourceRequest.PropertyDependencies();
  found.setUrnsList([...urns]);
  return found;
}

/** The registered part that has an address. */
type Seen = (address: string) => Registered;

async function registerPart(
  part: DesiredPart,
  registering: Registering,
  send: (seen: Seen) => Promise<RegisterResourceResponse>,
): Promise<Registered> {
  const needed = new Set([...partsNamedIn(part.inputs), ...(part.deletedWith === undefined ? [] : [part.deletedWith])]);
  const seen = new Map<string, Registered>();
  for (const address of needed) {
    const one = registering.get(address);
    if (one === undefined) throw new Error(`${part.address} names ${address}, which there is none of`);
    seen.set(address, await one);
  }
  const response = await send(seenIn(seen));
  return { urn: response.getUrn(), id: response.getId(), properties: readStruct(response.getObject()) };
}

const seenIn =
  (seen: ReadonlyMap<string, Registered>): Seen =>
  (address) => {
    const one = seen.get(address);
    if (one === undefined) throw new Error(`there is no ${address}`);
    return one;
  };

async function partRequest(
  { type, address, inputs, protect, ignoreChanges, deletedWith, formerly = [] }: DesiredPart,
  seen: Seen,
  request: ConstructRequest,
  parent: string,
  hidden: readonly string[],
): Promise<RegisterResourceRequest> {
  const own = new resources.RegisterResourceRequest();
  own.setType(pluginToken(type));
  own.setName(address);
  own.setParent(parent);
  own.setCustom(true);
  own.setAcceptsecrets(true);
  own.setSupportspartialvalues(true);
  inherit(own, request);
  if (protect) own.setProtect(true);
  own.setIgnorechangesList([...ignoreChanges]);
  if (deletedWith !== undefined) own.setDeletedwith(seen(deletedWith).urn);
  if (namesAreUnique.has(type)) {
    // What is retained keeps its name: the new one is refused before anything is taken off the one that stays.
    own.setDeletebeforereplace(request.getRetainondelete() !== true);
    own.setDeletebeforereplacedefined(true);
  }
  const provider = request.getProvidersMap().get(packageName);
  if (provider !== undefined) own.setProvider(provider);
  else {
    own.setVersion(version);
    own.setPlugindownloadurl(pluginDownloadUrl);
  }
  // A program that made the same files with dynamic resources before keeps its resources when it moves to the plugin.
  const aliasOf = (set: (spec: InstanceType<typeof alias.Alias.Spec>) => unknown): InstanceType<typeof alias.Alias> => {
    const former = new alias.Alias();
    const spec = new alias.Alias.Spec();
    set(spec);
    former.setSpec(spec);
    return former;
  };
  own.setAliasesList([
    aliasOf((spec) => spec.setType(dynamicToken(type))),
    ...formerly.flatMap((name) => [
      aliasOf((spec) => spec.setName(name)),
      // The engine combines no two aliases.
      aliasOf((spec) => spec.setName(name).setType(dynamicToken(type))),
    ]),
  ]);
  own.setAliasspecs(true);
  const given = [...request.getInputdependenciesMap().entries()].flatMap(([, one]) => one.getUrnsList());
  const all = new Set([...request.getDependenciesList(), ...given]);
  const worth: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(inputs)) {
    const resolved = worthOf(value, seen, (reference) => {
      throw new Error(
        `the service does not show the ${reference.property} of ${reference.part}, which ${address} needs`,
      );
    });
    worth[name] = hides(resolved, hidden) ? wrapSecret(unwrap(resolved)) : resolved;
    const urns = partsNamedIn(value).map((one) => seen(one).urn);
    for (const urn of urns) all.add(urn);
    own.getPropertydependenciesMap().set(name, dependencies([...urns, ...given]));
  }
  own.setDependenciesList([...all]);
  own.setObject(writeStruct(worth));
  return own;
}

/**
 * The value with the properties of parts in the place of references. `missing`: called for what the service does not
 * show.
 */
const worthOf = (value: unknown, seen: Seen, missing: (reference: PartReference) => unknown): unknown =>
  replacedIn(value, (part) => {
    if (isPartText(part)) return joined(part.pieces.map((piece) => worthOf(piece, seen, missing)));
    if (!isPartReference(part)) return part;
    const { id, properties } = seen(part.part);
    return part.property === undefined ? id || unknownValue : (properties[part.property] ?? missing(part));
  });

/** A text lacks a value where one of its pieces does. */
function joined(pieces: readonly unknown[]): unknown {
  const plain = pieces.map(unwrap);
  if (plain.includes(undefined)) return undefined;
  const text = plain.includes(unknownValue) ? unknownValue : plain.map(String).join("");
  return pieces.some(isSecret) ? wrapSecret(text) : text;
}

/** The reader of files writes names and owners in lower case. */
const secretTexts = (raw: Props): string[] => [...spelledOut(secretsIn(raw))].map((secret) => secret.toLowerCase());

/** What it says by itself: of a part that it names, the engine tells what is secret. */
function textsIn(value: unknown): string[] {
  if (isPartReference(value)) return [];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(textsIn);
  return value === undefined || value === null || value === "" || typeof value === "boolean" ? [] : [String(value)];
}

/** A property of a part is secret when a secret of the component is in it. */
const hides = (value: unknown, hidden: readonly string[]): boolean =>
  textsIn(unwrap(value)).some((text) => hidden.some((secret) => text.toLowerCase().includes(secret)));

const outputsOf = ({ outputs }: Parts, seen: Seen, hidden: readonly string[]): Props =>
  Object.fromEntries(
    outputs.map(({ name, value, sensitive }) => {
      const worth = worthOf(value, seen, () => undefined);
      return [name, sensitive || hides(value, hidden) ? wrapSecret(worth) : worth];
    }),
  );

function answer(urn: string, state: ReturnType<typeof writeStruct>, urns: string[], names: readonly string[]) {
  const response = new messages.ConstructResponse();
  response.setUrn(urn);
  response.setState(state);
  for (const name of names) {
    const found = new messages.ConstructResponse.PropertyDependencies();
    found.setUrnsList(urns);
    response.getStatedependenciesMap().set(name, found);
  }
  return response;
}
