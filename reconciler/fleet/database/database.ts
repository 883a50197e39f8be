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

/** The column of a row as its type; a column of another type is an error in the statement. */
export const textOf = (value: unknown): string => String(value);
export const maybeText = (value: unknown): string | undefined => (value == null ? undefined : String(value));
export const numberOf = (value: unknown): number => Number(value);
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

/** The names for a statement. Null: all stacks. */
export const namesIn = (names: string | readonly string[] | undefined): readonly string[] | null =>
  names === undefined ? null : typeof names === "string" ? [names] : names;
