/** The parts of a trace, independent of where they are kept. */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /**
   * The span as a W3C traceparent, for a program or service that does part of the work; absent where nobody is to get
   * it.
   */
  readonly traceparent?: string;
  /** `problem`: why the work of the span failed. */
  end(attributes?: Attributes, problem?: string): void;
}

export interface Tracing {
  /** Starts a span now, within the span that is under way here. */
  start(name: string, kind: "internal" | "client", attributes?: Attributes): Span;
  /** Runs `work`; spans that it starts are within `span`. */
  within<T>(span: Span, work: () => T): T;
  /** The traceparent of the span that is under way here. */
  traceparent(): string | undefined;
  /** Sends what is kept, before the process ends. Never fails; answers with what went wrong. */
  flush(): Promise<string | undefined>;
}

/** Takes out of a text what must not leave this process. */
export type Clean = (text: string) => string;

export const cleanAttributes = (attributes: Attributes, clean: Clean): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === "string" ? clean(value) : value]),
  );
