// @memhog/runtime/objects: plain values. Metadata, conditions, selectors, quantities, durations.
export { findCondition, hasCondition, removeCondition, setCondition } from "./objects/condition.ts";
export { describeDifference, differences, equals, isSubset } from "./objects/diff.ts";
export {
  dnsLabel,
  dnsSubdomain,
  identityLabels,
  isDnsLabel,
  isDnsSubdomain,
  labelValue,
  recommendedLabels,
} from "./objects/names.ts";
export * from "./objects/object.ts";
export { parseQuantity, Quantity, QuantityError, quantityOf } from "./objects/quantity.ts";
export { formatSelector, matches, parseSelector, requirementsOf, type Selector, SelectorError } from "./objects/selectors.ts";
export {
  DurationError,
  formatDuration,
  formatMicroTime,
  formatTime,
  hours,
  type Milliseconds,
  minutes,
  parseDuration,
  parseTime,
  seconds,
} from "./objects/time.ts";
export { oneLine, printable, withoutCredentials } from "./objects/untrusted-text.ts";
