/**
 * The fleet's one database: PostgreSQL, or PostgreSQL inside this process for trying the fleet. A statement and its
 * values go in, rows come out; callers know nothing else of it.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** The address for people, without a credential. */
  readonly location: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs several statements that take no values. */
  run(text: string): Promise<void>;
  /** Where notifications do not get through (a pooler in between), `on` is never called, and `hears` stays false. */
  listen(
    channels: readonly string[],
    on: (channel: string, payload: string) => void,
  ): Promise<{ close(): Promise<void> }>;
  /** The options with which the queue is opened. */
  readonly queueOptions: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/**
 * A value of a statement without a NUL, which PostgreSQL keeps in no text. Commits, files, services and people write the
 * texts.
 */
export const storable = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(storable) : typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;

/** An escape is read whole: behind an escaped backslash these letters are themselves. */
const escapes = /\\(?:u(?:0000|d[89a-f]..)|.)/g;

/** JSON as PostgreSQL keeps it: also without half of a character, with which a text ends that was cut in the middle of one. */
export const keptJson = (value: unknown): string =>
  JSON.stringify(value).replace(escapes, (found) => (found.length === 2 ? found : "\ufffd"));

/** The column of a row as its type; a column of another type is an error in the statement. */
export const textOf = (value: unknown): string => String(value);
export const maybeText = (value: unknown): string | undefined => (value == null ? undefined : String(value));
export const timeOf = (value: unknown): Date => (value instanceof Date ? value : new Date(String(value)));
export const maybeTime = (value: unknown): Date | undefined => (value == null ? undefined : timeOf(value));

/**
 * Reads columns that hold JSON. Only the fleet writes these columns, so the value has the type that it was written
 * with.
 */
export const columnsOf =
  <Columns>() =>
  <C extends keyof Columns & string>(row: Row, column: C): Columns[C] =>
    row[column] as Columns[C];

/**
 * A row as a value: each column under its name here, and none that is null. The type says which columns there are, and
 * only the fleet writes them.
 */
export const recordOf = <Value>(row: Row): Value =>
  Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) =>
      value == null ? [] : [[column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), value]],
    ),
  ) as Value;

/** The names for a statement. Null: all stacks. */
export const namesIn = (names: string | readonly string[] | undefined): readonly string[] | null =>
  names === undefined ? null : typeof names === "string" ? [names] : names;
