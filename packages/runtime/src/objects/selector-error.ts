/** A label selector that the API server would refuse. */
export class SelectorError extends Error {
  readonly code = "SELECTOR_INVALID";
  override readonly name = "SelectorError";
}
