// @memhog/runtime: what a first operator needs. Everything else is in an entry point named after its layer: /operator, /controller,
// /webhook, /schema, /cache, /client, /objects, /kinds and /concurrency; /testing is for tests.

// operator
export { Counter, Gauge, Histogram } from "prom-client";
export { FlagError } from "./operator/errors.ts";
export type { FlagTable, FlagValues } from "./operator/parse-flags.ts";
export { type Operator, operator } from "./operator/operator.ts";
export type { OperatorOptions, Runnable } from "./operator/options.ts";
export { type OperatorProgram, runOperator } from "./operator/run-operator.ts";

// controller
export type { CacheReader, Context, EventInput, StatusInput } from "./controller/context.ts";
export { type Outcome, awaitChange, done, requeueAfter } from "./controller/outcome.ts";
export { type Seen, type Wanted, declarative } from "./controller/declarative.ts";
export { TerminalError } from "./controller/errors.ts";
export { type Child, absent, after, child, keep, release } from "./controller/children.ts";
export { type Controller, type ControllerOptions, type Source, controller, defineController } from "./controller/controller.ts";

// webhook
export { allowed, denied } from "./webhook/admission.ts";
export { convert } from "./webhook/conversion.ts";
export { mutate, validate } from "./webhook/webhooks.ts";

// schema
export { type AnyResource, defineResource } from "./schema/define-resource.ts";
export { allow } from "./schema/permissions.ts";
export { condition } from "./schema/conditions.ts";
export { crdOf } from "./schema/custom-resource-definition.ts";
export {
  duration,
  keyedList,
  labelSelector,
  mapOf,
  preserveUnknown,
  quantity,
  setOf,
  stringMap,
  immutable,
  rule,
} from "./schema/fields.ts";
export { installCrds } from "./schema/install.ts";
export { z } from "zod";

// cache
export { indexBy } from "./cache/store.ts";
export { view } from "./cache/projection.ts";

// client
export { AlreadyExistsError, ApiError, ConflictError, NotFoundError } from "./client/errors.ts";
export type { Client } from "./client/client.ts";
export { loadConfig } from "./client/config/load.ts";
export { createClient } from "./client/create-client.ts";

// objects
export {
  type Kind,
  type KubernetesObject,
  type ObjectOf,
  type ObjectRef,
  type Stored,
  apiVersionOf,
  isControlledBy,
  keyOf,
  ownerReferenceTo,
  refOf,
} from "./objects/object.ts";
export { findCondition, hasCondition } from "./objects/condition.ts";
export { minutes, seconds } from "./objects/time.ts";
export { parseQuantity } from "./objects/quantity.ts";
export { recommendedLabels } from "./objects/names.ts";

// kinds
export { ConfigMap, Node, Secret, Service } from "./objects/kinds/core.ts";
export { Deployment, Job, StatefulSet } from "./objects/kinds/workloads.ts";
export { Event } from "./objects/kinds/access.ts";
export { Pod } from "./objects/kinds/pod.ts";
export { dynamicKind } from "./objects/kinds/kind.ts";

// concurrency
export type { Environment, Logger } from "./concurrency/environment.ts";
export { systemEnvironment } from "./concurrency/system-environment.ts";
