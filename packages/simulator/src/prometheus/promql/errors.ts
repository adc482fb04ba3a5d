// How a query can fail, and which answer that is: `bad_data` is 400, `execution` and everything else the engine meets is 422.

export class QueryError extends Error {
  readonly code: string = "SIMULATOR_QUERY";
  override readonly name: string = "QueryError";
  readonly errorType: "bad_data" | "execution";
  constructor(errorType: "bad_data" | "execution", message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/** It is no PromQL, or its types do not fit. `at`: where in the query, counted from 0. */
export class ParseError extends QueryError {
  override readonly code = "SIMULATOR_QUERY_PARSE";
  constructor(query: string, at: number, message: string) {
    const before = query.slice(0, at).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    super("bad_data", `${before.length}:${column}: parse error: ${message}`);
  }
}

/** The real one knows it; this one does not, and says so rather than guess. */
export class NotImplementedError extends QueryError {
  override readonly code = "SIMULATOR_QUERY_NOT_IMPLEMENTED";
  constructor(what: string) {
    super("execution", `not implemented in the simulator: ${what}`);
  }
}
