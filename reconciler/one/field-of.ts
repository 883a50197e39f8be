/**
 * The resource of a program that is a field of another resource: where a volume hangs, one rule of a group. Its id names
 * both. Here is whose it is, and that it is of this service; what it reads of the other resource, and changes there, its
 * kind says.
 */
import type { Kind } from "../core/model/kinds";
import { goesUnasked } from "./former";
import { assertSameService, keptAlive } from "./guards";
import {
  type Difference,
  type Found,
  failure,
  type Handler,
  type HandlerContext,
  type HandlerService,
  isPending,
  type Kept,
  type PropertyChange,
  type Props,
  unknownValue,
} from "./handler";
import { noteSaid, saidOf, withSuccessors } from "./made-here";
import { plain, type Remembered } from "./one-run";
import { claimMade, claimSeen, newOwner, releaseClaim, staysWithAnother } from "./ownership";
import { recordedKey, recordedProperty, rememberedIn } from "./shape";

/** One call about a field that there is. */
export interface OfField<I> {
  readonly context: HandlerContext;
  readonly service: HandlerService;
  readonly id: string;
  readonly ids: I;
  readonly remembered: Remembered;
}

export interface FieldResource<I>
  extends Pick<Handler, "type" | "description" | "inputs" | "outputs" | "stables" | "check"> {
  readonly noun: "attachment" | "rule";
  /** How the two ids of its own id are written in messages. */
  readonly written: string;
  ids(other: string, own: string): I;
  /** What its own id says of its inputs, whatever the engine has kept of them. */
  said(ids: I): Props;
  /** The inputs that are ids of other things, and of which kind. */
  readonly names: Readonly<Record<string, Kind>>;
  /** Of the properties of its inputs, those that change, as far as its inputs alone tell. */
  changes(before: Props, inputs: Props, remembered: Remembered): PropertyChange[];
  /** What the changes come to, by what the service shows beside them. */
  diff(
    of: OfField<I>,
    before: Props,
    changes: PropertyChange[],
    replaces: readonly string[],
    wanted: Props,
  ): Promise<Omit<Difference, "changes" | "replaces">>;
  /** `mayBeItself`: whether what has this id may be the former version of what is made, which is being replaced. */
  preview(
    context: HandlerContext,
    service: HandlerService,
    inputs: Props,
    mayBeItself: (id: string) => boolean,
  ): Promise<readonly string[]>;
  create(context: HandlerContext, service: HandlerService, inputs: Props): Promise<Kept>;
  /** Without `before` it is looked up by its id alone. `known`: what is remembered of it from then on. */
  read(of: OfField<I>, before: Props | undefined, known: Remembered): Promise<Found | undefined>;
  update(of: OfField<I>, before: Props, inputs: Props, owner: string): Promise<Kept>;
  /** Answers whether it is gone: what stays in the service keeps its owner. */
  remove(of: OfField<I>, before: Props): Promise<boolean>;
  /** Keeps other calls away from the resources that it is a field of. */
  exclusively?<T>(service: HandlerService, ids: I, call: () => Promise<T>): Promise<T>;
}

export const fieldThing = ({ noun }: Pick<FieldResource<unknown>, "noun">, id: string): string => `${noun}:${id}`;

/** The outputs of a field, with what is kept of it between two calls. */
export const keptField = (
  { client }: HandlerService,
  id: string,
  outputs: Props,
  owner: string,
  more: Remembered = {},
): Kept => ({
  id,
  outputs: plain({ ...outputs, [recordedKey]: { owner, scope: { origin: client.origin }, ...more } }),
});

export function createFieldHandler<I>(field: FieldResource<I>): Handler {
  const { noun } = field;
  const thing = (id: string): string => fieldThing(field, id);

  function idsIn(id: string): I {
    const [other, own, ...rest] = id.split("/");
    if (!other || !own || rest.length > 0)
      throw failure(
        "plan/bad-id",
        `${id} is no id of ${noun === "attachment" ? "an" : "a"} ${noun}`,
        `write ${field.written}`,
      );
    return field.ids(other, own);
  }

  /**
   * The engine leaves out what a resource that failed would have told, and asks about what depends on it all the same,
   * before it skips that: only what is carried out is refused.
   */
  const absentIds = (inputs: Props): string[] =>
    Object.entries(field.inputs).flatMap(([name, { required }]) =>
      required === true && inputs[name] == null ? [name] : [],
    );

  function refuseAbsent(inputs: Props): void {
    const absent = absentIds(inputs);
    if (absent.length === 0) return;
    const summary = `${field.type} needs ${absent.join(" and ")}`;
    throw failure("plan/bad-id", summary, "give the id");
  }

  async function known(context: HandlerContext, id: string, before: Props): Promise<OfField<I>> {
    const service = await context.service();
    const remembered = rememberedIn(before);
    assertSameService(service, remembered, `${noun} ${id}`);
    return { context, service, id, ids: idsIn(id), remembered };
  }

  return {
    type: field.type,
    description: field.description,
    inputs: field.inputs,
    outputs: { ...field.outputs, [recordedKey]: recordedProperty },
    stables: field.stables,
    check(inputs, exists) {
      const absent = absentIds(inputs);
      const checked = field.check({ ...inputs, ...Object.fromEntries(absent.map((id) => [id, unknownValue])) }, exists);
      const kept = Object.entries(checked.inputs).filter(([name]) => !absent.includes(name));
      return { ...checked, inputs: Object.fromEntries(kept) };
    },

    async diff(context, id, before, inputs) {
      const of = await known(context, id, before);
      const absent = absentIds(inputs).map((property) => ({ property, replaces: false }));
      if (absent.length > 0) return { changes: absent, replaces: [], deleteBeforeReplace: false, warnings: [] };
      await claimSeen(of.service, thing(id), of.remembered, context.notes);
      noteSaid(of.service, thing(id), inputs);
      const changes = field.changes({ ...before, ...field.said(of.ids) }, inputs, of.remembered);
      const replaces = changes.filter((change) => change.replaces).map(({ property }) => property);
      return { changes, replaces, ...(await field.diff(of, before, changes, replaces, inputs)) };
    },

    async preview(context, inputs, former) {
      refuseAbsent(inputs);
      if (Object.values(inputs).some((value) => typeof value === "string" && isPending(value))) return [];
      const service = await context.service();
      // A former version whose difference was asked for has shown its id with that.
      const mayBeItself = (id: string): boolean =>
        goesUnasked(context, former) || (former !== undefined && saidOf(service, thing(id)) !== undefined);
      return field.preview(context, service, inputs, mayBeItself);
    },

    async create(context, inputs) {
      refuseAbsent(inputs);
      const service = await context.service();
      const { props, says } = withSuccessors(service, inputs, field.names);
      for (const one of says) context.log("warning", one);
      return field.create(context, service, props);
    },

    async read(context, id, before) {
      const ids = idsIn(id);
      const service = await context.service();
      const remembered = before === undefined ? {} : rememberedIn(before);
      const imported = { owner: newOwner(), scope: { origin: service.client.origin }, imported: true } as const;
      const of = { context, service, id, ids, remembered };
      const is = before === undefined ? undefined : { ...before, ...field.said(ids) };
      return field.read(of, is, before === undefined ? imported : remembered);
    },

    async update(context, id, before, inputs) {
      refuseAbsent(inputs);
      const service = await context.service();
      const remembered = rememberedIn(before);
      const { owner = newOwner() } = remembered;
      claimMade(service, thing(id), owner);
      return field.update({ context, service, id, ids: idsIn(id), remembered }, before, inputs, owner);
    },

    async delete(context, id, before) {
      const of = await known(context, id, before);
      const { service, ids, remembered } = of;
      if (context.notes?.staysAlive() === true) return context.log("warning", keptAlive(`${noun} ${id}`));
      const { exclusively = (_service, _ids, call) => call() } = field;
      await exclusively(service, ids, async () => {
        const stays = staysWithAnother(service, thing(id), remembered.owner, context.notes, `${noun} ${id}`);
        if (stays !== undefined) return context.log("warning", stays);
        if (await field.remove(of, before)) releaseClaim(service, thing(id), context.notes);
      });
    },
  };
}
