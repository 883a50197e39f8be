/**
 * The fleet's one database: PostgreSQL, or PostgreSQL inside this process for trying. A statement and its values go in,
 * rows come out; who speaks to it knows nothing else.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** For people, without a credential. */
  readonly location: string;
  /** Of this process alone: no other worker can come to it. */
  readonly embedded: boolean;
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs several statements that take no values. */
  run(text: string): Promise<void>;
  /** Where notifications do not get through (a pooler in between), nothing is ever heard, and `hears` stays false. */
  listen(channel: string, on: (payload: string) => void): Promise<{ close(): Promise<void> }>;
  /** What the queue is opened with. */
  readonly queueOptions: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** A row's column as what it is said to be; a column of another kind is a bug of the statement. */
export const textOf = (value: unknown): string => String(value);
export const maybeText = (value: unknown): string | undefined => (value == null ? undefined : String(value));
export const numberOf = (value: unknown): number => Number(value);
export const timeOf = (value: unknown): Date => (value instanceof Date ? value : new Date(String(value)));
export const maybeTime = (value: unknown): Date | undefined => (value == null ? undefined : timeOf(value));

/** Reads columns that hold more than a word: the database gives back what was written, and nothing else writes there. */
export const columnsOf =
  <Columns>() =>
  <C extends keyof Columns & string>(row: Row, column: C): Columns[C] =>
    row[column] as Columns[C];

/** Null: all of them. */
export const namesIn = (names: string | readonly string[] | undefined): readonly string[] | null =>
  names === undefined ? null : typeof names === "string" ? [names] : names;
