// The entry point of @memhog/kit: what is made from an operator's source and stands beside it. An operator at work does not need it.
export { unbounded, undescribed } from "./completeness.ts";
export { checkManifests, type Difference, generate, type ManifestFiles, writeManifests } from "./drift.ts";
export { type OperatorManifestsOptions, operatorManifests, type Variant } from "./manifests.ts";
export { referenceOf } from "./reference.ts";
