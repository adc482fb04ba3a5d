// @memhog/runtime/hooks: controllers in the style of metacontroller.
export { type CompositeOptions, compositeController } from "./hooks/composite.ts";
export { type AttachmentRule, type DecoratedResource, type DecoratorOptions, decoratorController } from "./hooks/decorator.ts";
export {
  type CompositeRequest,
  type CompositeResponse,
  type CustomizeRequest,
  type CustomizeResponse,
  type DecoratorRequest,
  type DecoratorResponse,
  type Hook,
  HookError,
  type HookObject,
  type NodeFunction,
  nodeHook,
  type ObjectMap,
  type RelatedRule,
  type UrlHook,
} from "./hooks/hook.ts";
export type { ChildRule, ConditionCheck, UpdateMethod, UpdateStrategy } from "./hooks/update.ts";
