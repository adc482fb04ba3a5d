// @memhog/runtime/schema: one value for types, CRD, defaults, validation, columns, conditions and RBAC.

export { z } from "zod";
export { condition, reasonsOf } from "./schema/conditions.ts";
export { type CrdOptions, crdOf, type NamedCrd } from "./schema/custom-resource-definition.ts";
export * from "./schema/define-resource.ts";
export * from "./schema/errors.ts";
export {
  duration,
  exactlyOneOf,
  immutable,
  keyedList,
  labelSelector,
  mapOf,
  preserveUnknown,
  quantity,
  rule,
  setOf,
  stringMap,
} from "./schema/fields.ts";
export { applyRbac, type InstallOptions, installCrds, toYaml } from "./schema/install.ts";
export { schemaOf } from "./schema/object-schema.ts";
export { parseObject, withDefaults } from "./schema/parse.ts";
export { allow, type ControllerKinds, type Grant, type Granted, inferPermissions, type Verb } from "./schema/permissions.ts";
export { type RoleOptions, rolesFor, rulesFor } from "./schema/rbac.ts";
export { type RestrictedClient, restrict } from "./schema/restricted-client.ts";
export type { StructuralSchema } from "./schema/structural-types.ts";
