// The entry point of @memhog/kit: generates manifests and reference pages from an operator's source. A running operator does not need it.
export { unbounded, undescribed } from "./completeness.ts";
export { checkManifests, type Difference, generate, type ManifestFiles, writeManifests } from "./drift.ts";
export { type OperatorManifestsOptions, operatorManifests, type Variant } from "./manifests.ts";
export { referenceOf } from "./reference.ts";
