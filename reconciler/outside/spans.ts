/** What a trace is made of, whoever keeps it. */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** In the form of the W3C, for whoever is asked to do a part of it; absent where nobody is to be told. */
  readonly traceparent?: string;
  /** `problem`: it failed, and why. */
  end(attributes?: Attributes, problem?: string): void;
}

export interface Tracing {
  /** Begins now, within the span that is under way here. */
  start(name: string, kind: "internal" | "client", attributes?: Attributes): Span;
  /** What is done in `work`, and in everything that it starts, is within the span. */
  within<T>(span: Span, work: () => T): T;
  /** Of the span that is under way here. */
  traceparent(): string | undefined;
  /** Before the process ends. Never fails; answers with what went wrong. */
  flush(): Promise<string | undefined>;
}

/** A text without what must not leave this process. */
export type Clean = (text: string) => string;

export const cleanAttributes = (attributes: Attributes, clean: Clean): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === "string" ? clean(value) : value]),
  );
