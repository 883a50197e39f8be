/**
 * What a kind says of itself as data: its words, its fields, its operations and what it is to other kinds. What follows
 * from that alone is written once for all kinds (kinds/usual); a kind has code of its own where it is not usual.
 *
 * The script that writes the schemas reads the definitions without a build: they import types alone.
 */
import type { Rows } from "../core/model/field-row";
import type { OperationRow } from "../core/model/operation-row";

export interface KindWords {
  /** The key of the YAML section that declares it. */
  readonly section: string;
  /** The word for the kind in a sentence. */
  readonly noun: string;
  /** The word for the kind where the short word could mean another thing. */
  readonly fullNoun: string;
  /**
   * The values to which a file may refer, beside the resource itself (`${vm.db.private_ip}`), each with the key under
   * which a record has it.
   */
  readonly attributes: Readonly<Record<string, string>> & { readonly id: "id" };
  /** What is lost when a resource of the kind is replaced or deleted, in the words of a plan. */
  readonly whenReplaced: readonly string[];
  readonly whenDeleted: readonly string[];
  /** What is lost where one that is gone is made anew, as a sentence. */
  readonly whenMadeAnew?: string;
  /** In a picture, on light and dark and in the shade for dark alone. */
  readonly tone: { readonly colour: string; readonly onDark: string };
}

/** What one resource is to another, said by the one that depends. */
export type Relation =
  /** A volume on a VM. It survives the host, and comes off it before that is deleted. */
  | {
      readonly is: "hangs-on";
      readonly kind: string;
      /** The key of the field that names the host. */
      readonly field: string;
      /** The key under which a record, and what is seen of it, has the host's id. */
      readonly recorded: string;
      readonly attach: string;
      readonly detach: string;
    }
  /** A rule names a group. */
  | {
      readonly is: "names";
      readonly kind: string;
      readonly field: string;
      /** The word for the resource itself. */
      readonly itself?: string;
    }
  /** Texts in these fields may hold a value of another resource (`${vm.web.private_ip}`). */
  | { readonly is: "reads"; readonly fields: readonly string[] }
  /** No two of a project have one name. */
  | { readonly is: "named" };

export type HangsOn = Extract<Relation, { readonly is: "hangs-on" }>;

export interface KindDefinition {
  readonly words: KindWords;
  readonly fields: Rows & { readonly name: Rows[string] };
  readonly calls: Readonly<Record<string, OperationRow>>;
  readonly relations: readonly Relation[];
  /** Names that the service has for itself. */
  readonly reservedNames?: readonly string[];
  /** One that exists may be said by its name, where it is taken over. */
  readonly takenByName?: true;
  /** Its key in a file is a label as long as nobody has said or seen a name; of other kinds it is the name. */
  readonly keyIsLabel?: true;
  /** The answer to its create names no id: it is found in the list. */
  readonly createTellsNoId?: true;
  /** It runs a guest, which is reached by SSH and is away while it restarts. */
  readonly runsGuest?: true;
  /** The state of one that is at rest: a word that may mean gone on another service is given this or that meaning. */
  readonly atRest?: string;
  /** The read of what neither its list nor a read of one shows. */
  readonly readBeside?: string;
  /** One that was left behind can be deleted by its id. */
  readonly orphansDeletable?: true;
  /**
   * Where the service's records show it, for a kind without a reader of its own: pointers by the key of a field, with
   * `id`, `status`, and the key of the host.
   */
  readonly record?: Readonly<Record<string, readonly string[]>>;
  /** The resource of a program, for a kind without a handler of its own. */
  readonly one?: { readonly type: string; readonly description: string };
}

export const defineKind = <const D extends KindDefinition>(definition: D): D => definition;
