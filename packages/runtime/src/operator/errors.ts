// The errors of an operator as a whole; the other folders have their own.

/** The base class of the errors below. */
export abstract class OperatorError extends Error {
  /** Stable across releases: safe to match on. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The Lease was lost and another replica may lead. Stop immediately; the process is about to exit. */
export class LeadershipLostError extends OperatorError {
  readonly code = "LEADERSHIP_LOST";
}

/** The options of an operator are invalid. Retrying does not help; fix the program. */
export class OperatorOptionsError extends OperatorError {
  readonly code = "OPERATOR_OPTIONS";
}

/** The operator is shutting down: work aborted with this error did not fail. */
export class StoppingError extends OperatorError {
  readonly code = "OPERATOR_STOPPING";
}

/** The command line is invalid. The message says what was expected. */
export class FlagError extends OperatorError {
  readonly code = "FLAGS";
}

/** An address to listen on is invalid or already in use. */
export class AddressError extends OperatorError {
  readonly code = "ADDRESS";
}
