/** Values that stand in many places of a desired state. `Interpolated`: a reference may take the place of the value. */

/** @pattern ^[A-Za-z0-9_-]+$ */
export type Key = string;

export type Whole = number;

/** @min 1 */
type AtLeastOne = Whole;

/** @min 0 */
type Count = Whole;

/** @pattern ^ *[0-9]+ *$|\$\{ */
type WholeText = string;

/** @pattern ^ *[0-9]+ *%? *$|\$\{ */
type ShareText = string;

export type ShareOfAny = Count | ShareText;

export type ShareOfSome = AtLeastOne | ShareText;

/** @min 0 */
type Amount = number;

/** @pattern ^ *[0-9]+(?:\.[0-9]+)? *$|\$\{ */
type AmountText = string;

/** @min 1 @max 65535 */
export type PortNumber = Whole;

/** @pattern ^ *[0-9]+ *(?:- *[0-9]+ *)?$|\$\{ */
export type PortText = string;

/** @pattern ^ *(?:any|[0-9]+ *(?:- *[0-9]+ *)?)$|\$\{ */
export type AnyPortText = string;

/** @pattern ^(?:[Tt][Cc][Pp]|[Uu][Dd][Pp]|[Ii][Cc][Mm][Pp]|[Aa][Nn][Yy])$ */
export type AnyCase = string;

/** Text with ${…} in it. @pattern \$\{ */
export type Interpolated = string;

/** Text. Numbers are written in quotes. */
export type Text = string;

/** A name in the service. @pattern ^[A-Za-z0-9-]{3,50}$|\$\{ */
export type Name = string;

/** true or false. @def boolean */
export type Flag = boolean | Interpolated;

/** A size in GB, as number or text. */
export type Size = AtLeastOne | WholeText;

/** A port from 1 to 65535, as number or text. */
export type Port = PortNumber | WholeText;

/** A duration such as 30ms, 2s, 15m or 1h. @pattern ^ *[0-9]+(?:\.[0-9]+)? *(?:ms|s|m|h) *$|\$\{ */
export type Duration = string;

/** A program and its arguments, one list item each; no shell is involved. @minItems 1 */
export type Argv = string[];

/** The environment variables that the program may see, beside PATH, HOME, LANG, LC_*, TZ, TMPDIR and TRACEPARENT. */
export type Variables = string[];

/** An address: vm.KEY, volume.KEY or group.KEY, with [EACH] for an instance of a for_each; within a component KEY/ comes before it, and alone is all of the component. @pattern ^(?:[A-Za-z0-9_-]+(?:\[[^\[\]]+\])?/)*(?:(?:vm|volume|group)\.[A-Za-z0-9_-]+(?:\[[^\[\]]+\])?)?$|\$\{ */
export type Address = string;

/** Another resource. */
export type Reference = string | UnmanagedId;

interface UnmanagedId {
  /** The id of a resource that is not managed here. */
  id: Text;
}

export type Lines = Text | (string | number)[];

export type ForEach = (string | number | boolean)[] | Record<string, unknown> | Count | Interpolated;

/** An amount, as a number or as text; 0 where there is nothing to pay. */
export type Price = Amount | AmountText;

/** @pattern ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ */
export type Day = string;
