/**
 * A room is what one set of names is for: the files as a whole, and each use of a component within it. Inside a room
 * names are local; out of a component come only its outputs, and in go only its parameters. All rooms together are the
 * declared world, each resource under the address of its room (`shop/vm.web[0]`).
 *
 * A room is opened when it is first asked for: a use may be handed the outputs of another one, in any order but a circle.
 */

import type { Address, Kind } from "../core/model/address";
import { isKind, perKind } from "../core/model/kinds";
import { listed } from "../core/text/list-text";
import { nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import { type ExpandedBlocks, expandBlocks, type MadeOfKind, mostInstancesOfAll } from "./blocks";
import { type ComponentFile, type ComponentFiles, openComponentFile } from "./component-file";
import { isSwitchedOn } from "./enabled";
import { expandForEach } from "./for-each";
import {
  type Each,
  hasHole,
  type InterpolationScope,
  interpolate,
  keepingSecrets,
  keyOf,
  type Report,
  type SecretPart,
  secretIn,
  unknownReference,
  type VariableValues,
  walk,
} from "./interpolation";
import { openValue } from "./open-values";
import { namingOrigins, type Origins } from "./origins";
import { type Problems, problemsIn } from "./problems";
import { type Declared, declare, notEnabled } from "./references";
import { type Defaults, lineOf, type Merged, type MergedEntry } from "./sources";
import type { Expression } from "./template";
import { deepestUse, type GivenValue, resolveVars, type SensitiveTexts } from "./vars";
import { isMap, type Path, type Place, placeOf, type YamlMap } from "./yaml/file";

export interface Room {
  /** The components it is in: "" for the files themselves. */
  readonly within: string;
  readonly scope: InterpolationScope;
  readonly expanded: Readonly<Record<Kind, ExpandedBlocks>>;
  readonly declared: Declared;
  readonly problems: Problems;
  readonly origins: Origins;
  /** Where the component is used. Absent for the files themselves. */
  readonly use?: Place;
}

/** What a room is made from. */
interface RoomPlan extends Pick<Room, "within" | "problems" | "origins" | "use"> {
  readonly merged: Pick<Merged, "entries" | "components" | "outputs">;
  readonly defaults: Readonly<Record<Kind, Defaults>>;
  readonly base: InterpolationScope;
  /**
   * What is read from other states and the service. Only the files themselves read from there, and hand the values to
   * components.
   */
  readonly outside: InterpolationScope["elsewhere"];
  /** The files that led here, from the outermost. */
  readonly trail: readonly string[];
}

/** What all rooms of one reading share. */
interface House {
  readonly files: ComponentFiles;
  readonly rooms: Map<string, Declared>;
  readonly addresses: Set<Address>;
  readonly opened: Room[];
  /** How many uses are being opened, one within or through the other. */
  opening: number;
  readonly made: Readonly<Record<Kind, MadeOfKind>>;
  /** Is told the values of sensitive parameters. */
  readonly secrets: (secrets: SensitiveTexts) => void;
}

/** The largest number of rooms: no run could carry out more, and a mistyped number must not fill the memory. */
const mostRooms = 20_000;

export function openRooms(
  merged: Merged,
  base: InterpolationScope,
  problems: Problems,
  { files, outside, secrets }: Pick<House, "files" | "secrets"> & Pick<RoomPlan, "outside">,
): readonly Room[] {
  const house: House = {
    files,
    rooms: new Map(),
    addresses: new Set(),
    opened: [],
    opening: 0,
    made: perKind(() => ({ count: 0 })),
    secrets,
  };
  const origins: Origins = { root: "var", values: base.vars };
  openRoom({ within: "", merged, defaults: merged.defaults, base, problems, origins, trail: [], outside }, house);
  return house.opened;
}

function openRoom(plan: RoomPlan, house: House): Room {
  const { within, merged, defaults, base, problems, origins, use } = plan;
  const expanded = perKind((kind) =>
    expandBlocks(kind, merged.entries[kind], defaults[kind], base, problems, { within, use, made: house.made[kind] }),
  );
  const declared = declare(expanded, { within, addresses: house.addresses, rooms: house.rooms });
  const uses = readUses(plan, house, () => scope);
  const scope: InterpolationScope = {
    ...base,
    elsewhere: (expression, report, inner) => {
      if (expression.root === "component") return outputOf(expression, inner, uses, report);
      if (isKind(expression.root)) return openValue(expression.root, expression, inner, declared, report);
      return (plan.outside ?? refuseOutsideReference)(expression, report, inner);
    },
  };
  const room = { within, scope, expanded, declared, problems, origins, use };
  house.opened.push(room);
  uses.openAll();
  if (use !== undefined) for (const output of merged.outputs) checkNames(output, room, uses);
  return room;
}

/**
 * Tells of an output, also of one that nothing uses, which of its names is declared nowhere. What hangs on how the
 * component is used (a block that is not enabled, a key of a for_each, the value of a parameter) is told where it is used.
 */
function checkNames(output: MergedEntry, { scope, declared, problems }: Room, uses: Uses): void {
  const { component, elsewhere } = scope;
  const hangsOnUse = ({ root, steps: [first, next, after] }: Expression): boolean => {
    const name = first?.kind === "field" ? first.name : "";
    if (root === "component") {
      const keys = uses.eachKeys(name);
      const field = keys === undefined ? next : next?.kind === "every" ? after : undefined;
      const opened = uses.open(name, keys?.[0]);
      const isWrong =
        opened === undefined ? !uses.keys.includes(name) : field?.kind === "field" && !opened.outputs.has(field.name);
      return uses.disabled.has(name) || !isWrong;
    }
    if (!isKind(root)) return false;
    const keys = declared.blocks[root].get(name)?.eachKeys;
    const isOne = keys !== undefined && next?.kind === "key";
    return declared.disabled[root].has(name) || (isOne && !keys.some((key) => key === next.key));
  };
  const named: InterpolationScope = {
    ...scope,
    environment: scope.environment ?? "",
    ...onlyDefined({ component: component && { key: component.key, params: withoutValues(component.params) } }),
    elsewhere: (expression, report) => (hangsOnUse(expression) ? undefined : elsewhere?.(expression, report, scope)),
  };
  interpolateOutput(output, named, problems);
}

const refuseOutsideReference = ({ text }: Expression, report: Report): undefined =>
  report({
    code: "config/interpolation",
    summary: `\${${text}} has no meaning in a component`,
    detail: "the file that uses the component reads what is elsewhere",
    fix: `declare a parameter and pass it: with: { NAME: "\${${text}}" }`,
  });

const withoutValues = (values: VariableValues): VariableValues => ({
  has: (name) => values.has(name),
  get: () => undefined,
  keys: () => values.keys(),
});

/** The components that a room uses, by their key. */
interface Uses {
  readonly keys: readonly string[];
  readonly disabled: ReadonlySet<string>;
  /** The for_each keys of a use; `undefined` for one without. */
  eachKeys(key: string): readonly string[] | undefined;
  /** `undefined`: the use has a problem, which is reported. */
  open(key: string, each: string | undefined): OpenUse | undefined;
  openAll(): void;
}

interface OpenUse {
  readonly outputs: ReadonlyMap<string, MergedEntry>;
  output(name: string): OutputValue;
}

interface OutputValue {
  readonly value: unknown;
  readonly secrets: readonly SecretPart[];
}

interface Use {
  readonly entry: MergedEntry;
  readonly values: YamlMap;
  readonly each?: Each;
  readonly place: (path: Path, on?: "key" | "value") => Place;
}

function readUses(plan: RoomPlan, house: House, scopeOf: () => InterpolationScope): Uses {
  const { merged, base, problems, within } = plan;
  const uses = new Map<string, Use>();
  const eachKeys = new Map<string, readonly string[] | undefined>();
  const disabled = new Set<string>();
  for (const entry of merged.components) {
    const { key, value, source } = entry;
    if (!isMap(value) || !/^[A-Za-z0-9_-]+$/.test(key)) continue;
    const place = (path: Path, on: "key" | "value" = "value") =>
      placeOf(source, ["components", key, ...path], path.length === 0 ? "key" : on);
    const isOn = (each?: Each) => isSwitchedOn(value["enabled"], { ...base, each }, problems, place(["enabled"]));
    if (!Object.hasOwn(value, "for_each")) {
      if (isOn()) {
        uses.set(key, { entry, values: value, place });
        eachKeys.set(key, undefined);
      } else disabled.add(key);
      continue;
    }
    const items = expandForEach(value["for_each"], (path) => place(["for_each", ...path]), base, mostRooms, problems);
    const kept = items.filter(isOn);
    const keys = kept.map((each) => each.key);
    eachKeys.set(key, keys);
    for (const each of kept) uses.set(`${key}[${each.key}]`, { entry, values: value, each, place });
  }
  const known = new Map<string, OpenUse | undefined>();
  const opening: string[] = [];
  const open = (name: string): OpenUse | undefined => {
    if (known.has(name)) return known.get(name);
    const use = uses.get(name);
    if (use === undefined) return undefined;
    const circle = opening.indexOf(name);
    if (circle !== -1) {
      const names = [...opening.slice(circle), name];
      return problems.add({
        code: "config/component-circle",
        summary: `the component ${within}${name} is made of its own outputs`,
        detail: names.map((one) => `component.${one}`).join(" -> "),
        fix: "hand one of them something that does not come from the others",
        at: use.place(["with"]),
      });
    }
    if (house.opening >= deepestUse) {
      problems.add({
        code: "config/too-large",
        summary: `the component ${within}${name} is used by ${deepestUse} others, one through the other`,
        fix: "use fewer steps",
        at: use.place([]),
      });
      known.set(name, undefined);
      return undefined;
    }
    opening.push(name);
    house.opening++;
    const opened = openUse(name, use, plan, house, scopeOf());
    house.opening--;
    opening.pop();
    known.set(name, opened);
    return opened;
  };
  return {
    keys: [...eachKeys.keys()],
    disabled,
    eachKeys: (key) => eachKeys.get(key),
    open: (key, each) => open(each === undefined ? key : `${key}[${each}]`),
    openAll: () => {
      for (const name of uses.keys()) open(name);
    },
  };
}

function openUse(
  name: string,
  use: Use,
  plan: RoomPlan,
  house: House,
  parent: InterpolationScope,
): OpenUse | undefined {
  const { problems, within, trail } = plan;
  const { entry, place } = use;
  const at = place([]);
  const inUse: InterpolationScope = { ...parent, ...onlyDefined({ each: use.each }) };
  const file = openComponentFile(use.values, entry.source.file, place, inUse, problems, house.files);
  if (file === undefined) return undefined;
  if (trail.includes(file.source.file))
    return problems.add({
      code: "config/component-circle",
      summary: `the component ${within}${name} is made of itself`,
      detail: [...trail.slice(trail.indexOf(file.source.file)), file.source.file].join(" -> "),
      fix: "use another file here",
      at: place(["from"]),
    });
  const isFull = Object.values(house.made).some(({ count }) => count > mostInstancesOfAll);
  if (isFull || house.rooms.size > mostRooms)
    return problems.add({
      code: "config/for-each",
      summary: isFull ? "the components make too many resources" : "there are too many components",
      detail: `at most ${isFull ? `${mostInstancesOfAll} of a kind` : mostRooms} are possible`,
      at,
    });
  const path = `${within}${name}/`;
  const inside = problemsIn(problems, `in the component ${path.slice(0, -1)}, used in ${lineOf(at)}`);
  const key = keyOfComponent(path);
  const params = resolveVars(
    {
      what: "parameter",
      root: "param",
      section: "parameters",
      hint: (parameter) => `give it where the component is used: with: { ${parameter}: … }`,
      use: place(["with"], "key"),
    },
    file.parameters,
    readWith(use, file, inUse, problems),
    { componentKey: key, environment: parent.environment },
    inside,
    house.secrets,
  );
  const base: InterpolationScope = { vars: new Map(), environment: parent.environment, component: { key, params } };
  const origins: Origins = { root: "param", values: params, outer: plan.origins };
  const room = openRoom(
    {
      within: path,
      merged: file.merged,
      defaults: perKind((kind) => overInherited(file.merged.defaults[kind], plan.defaults[kind], plan.base)),
      base,
      problems: namingOrigins(inside, origins),
      origins,
      use: at,
      outside: undefined,
      trail: [...trail, file.source.file],
    },
    house,
  );
  const outputs = new Map(file.merged.outputs.map((output) => [output.key, output] as const));
  const values = new Map<string, OutputValue>();
  return {
    outputs,
    output(wanted) {
      const worth = values.get(wanted) ?? evaluateOutput(outputs.get(wanted), room, inside);
      values.set(wanted, worth);
      return worth;
    },
  };
}

/** One word that two uses do not share: `shop`, `eu-a`, and `shop-inner` for a component within one. */
const keyOfComponent = (path: string): string => path.slice(0, -1).replaceAll("]", "").replaceAll(/[[/]/g, "-");

/** Settings for every resource hold in components too, below the components' own. */
const overInherited = (own: Defaults, inherited: Defaults, scope: InterpolationScope): Defaults =>
  inherited.below === undefined && Object.keys(inherited.values).length === 0
    ? own
    : { ...own, below: { defaults: inherited, scope } };

function readWith(
  use: Use,
  file: ComponentFile,
  parent: InterpolationScope,
  problems: Problems,
): Map<string, GivenValue> {
  const given = new Map<string, GivenValue>();
  const written = use.values["with"];
  if (!isMap(written)) return given;
  const names = file.parameters.map(({ name }) => name);
  for (const [name, value] of Object.entries(written)) {
    if (!names.includes(name)) {
      problems.add({
        code: "config/unknown-variable",
        summary: `the component has no parameter ${name}`,
        detail: names.length === 0 ? "it has none" : `it has ${listed(names)}`,
        fix: nearestText(name, names, (near) => `write ${near}`) ?? "take it out",
        at: use.place(["with", name], "key"),
      });
      continue;
    }
    const within = (path: Path) => use.place(["with", name, ...path]);
    const { scope, secrets } = keepingSecrets(parent);
    const before = problems.reported;
    const worth = interpolate(value, scope, (problem, path) => problems.add({ ...problem, at: within(path) }));
    given.set(name, {
      value: worth,
      at: within([]),
      within,
      isText: false,
      isTemplate: false,
      isSensitive: secrets.length > 0 || undefined,
      isBroken: problems.reported > before || hasHole(worth) || undefined,
    });
  }
  return given;
}

function evaluateOutput(output: MergedEntry | undefined, { scope }: Room, problems: Problems): OutputValue {
  if (output === undefined) return { value: undefined, secrets: [] };
  const { scope: told, secrets } = keepingSecrets(scope);
  return { value: interpolateOutput(output, told, problems), secrets };
}

function interpolateOutput(
  { key, value, source }: MergedEntry,
  scope: InterpolationScope,
  problems: Problems,
): unknown {
  const isLong = isMap(value) && Object.hasOwn(value, "value");
  const path: Path = ["outputs", key, ...(isLong ? ["value"] : [])];
  return interpolate(isLong ? value["value"] : value, scope, (problem, inner) =>
    problems.add({ ...problem, at: placeOf(source, [...path, ...inner], "value") }),
  );
}

/**
 * `${component.shop.addresses}`, `${component.eu[a].addresses}`, `${component.eu[*].addresses}`: the forms one after the
 * other, each with its own refusal.
 */
function outputOf(expression: Expression, scope: InterpolationScope, uses: Uses, report: Report): unknown {
  const [first, ...rest] = expression.steps;
  const fail = (summary: string, detail?: string, fix?: string): undefined =>
    unknownReference(report, { summary, detail, fix });
  const key = first === undefined ? undefined : keyOf(first, scope, report);
  if (key === undefined) return fail(`\${${expression.text}} is not known`, "expected ${component.KEY.OUTPUT}");
  if (uses.disabled.has(key)) return report(notEnabled(`the component ${key}`));
  if (!uses.keys.includes(key))
    return fail(
      `no component ${key} is used here`,
      uses.keys.length === 0 ? "none is" : `there is ${listed(uses.keys)}`,
      nearestText(key, uses.keys, (near) => `write \${${expression.text.replace(`.${key}`, `.${near}`)}}`),
    );
  const eachKeys = uses.eachKeys(key);
  if (eachKeys === undefined) return outputAt(uses.open(key, undefined), key, rest, expression, scope, report);
  const [which, ...steps] = rest;
  if (which === undefined || which.kind === "field")
    return fail(
      `the component ${key} has a for_each: the reference must name one of its keys`,
      eachKeys.length === 0 ? "its for_each is empty" : `its keys are ${listed(eachKeys)}`,
      `write \${component.${key}[${eachKeys[0] ?? "KEY"}].OUTPUT}, or \${component.${key}[*].OUTPUT} for a list of all`,
    );
  const ofOne = (each: string): unknown =>
    outputAt(uses.open(key, each), `${key}[${each}]`, steps, expression, scope, report);
  if (which.kind === "every") {
    const values = eachKeys.map(ofOne);
    return values.includes(undefined) ? undefined : values.flat();
  }
  const each = keyOf(which, scope, report);
  if (each === undefined) return undefined;
  if (eachKeys.includes(each)) return ofOne(each);
  return fail(
    `the component ${key} has no key ${each}`,
    `its keys are ${listed(eachKeys)}`,
    nearestText(each, eachKeys, (near) => `write \${component.${key}[${near}]…}`),
  );
}

function outputAt(
  opened: OpenUse | undefined,
  name: string,
  [field, ...path]: Expression["steps"],
  expression: Expression,
  scope: InterpolationScope,
  report: Report,
): unknown {
  if (opened === undefined) return undefined;
  const names = [...opened.outputs.keys()];
  if (field?.kind === "field" && opened.outputs.has(field.name)) {
    const { value, secrets } = opened.output(field.name);
    const part =
      value === undefined ? undefined : walk(value, path, `component.${name}.${field.name}`, expression, scope, report);
    if (part === undefined) return undefined;
    const secret = secretIn(
      secrets,
      path.flatMap((step) => keyOf(step, scope, report) ?? []),
    );
    if (secret !== undefined) scope.onSensitive?.(secret, []);
    return part;
  }
  const wanted = field?.kind === "field" ? field.name : undefined;
  return unknownReference(report, {
    summary:
      wanted === undefined ? `\${${expression.text}} names no output` : `the component ${name} has no output ${wanted}`,
    detail: names.length === 0 ? "it hands out nothing" : `it hands out ${listed(names)}`,
    fix: wanted === undefined ? undefined : nearestText(wanted, names, (near) => `write \${component.${name}.${near}}`),
  });
}
