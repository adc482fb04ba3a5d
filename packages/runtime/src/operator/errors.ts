// Every way the whole can fail, once; the parts have catalogues of their own.

/** Anything this folder throws on purpose. */
export abstract class OperatorError extends Error {
  /** Stable: safe to match on, to log and to count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** We may no longer assume that we are the only one at work. Stop at once; the process is about to end. */
export class LeadershipLostError extends OperatorError {
  readonly code = "LEADERSHIP_LOST";
}

/** The options of an operator contradict each other. Only a change of the program helps. */
export class OperatorOptionsError extends OperatorError {
  readonly code = "OPERATOR_OPTIONS";
}

/** The operator was asked to stop. What is aborted with it was in order. */
export class StoppingError extends OperatorError {
  readonly code = "OPERATOR_STOPPING";
}

/** The command line is not understood. The message says what is. */
export class FlagError extends OperatorError {
  readonly code = "FLAGS";
}

/** An address to listen on could not be understood or taken. */
export class AddressError extends OperatorError {
  readonly code = "ADDRESS";
}
