// The errors of resource definitions. Each class has a stable `code`; messages name what was expected, what was found and what
// to write instead.

abstract class SchemaError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An invalid definition: an invalid name, or a column or rule for a field that does not exist. */
export class ResourceDefinitionError extends SchemaError {
  readonly code = "RESOURCE_DEFINITION_INVALID";
}

/** A zod type that a CustomResourceDefinition cannot express. Rejected, because the API server would silently enforce less. */
export class NotStructuralError extends SchemaError {
  readonly code = "SCHEMA_NOT_STRUCTURAL";
  /** The path in the object: "spec.backups[].at". */
  readonly path: string;

  constructor(path: string, found: string, instead: string) {
    super(`${path}: ${found} cannot be expressed in a CustomResourceDefinition → ${instead}`);
    this.path = path;
  }
}

/** An object does not match its schema. The message has one line per error, each with its path. */
export class InvalidObjectError extends SchemaError {
  readonly code = "OBJECT_INVALID";
  readonly faults: readonly string[];

  constructor(what: string, faults: readonly string[]) {
    super([`${what} does not match its schema:`, ...faults].join("\n  "));
    this.faults = faults;
  }
}

/** A grant that an RBAC rule cannot express. */
export class GrantError extends SchemaError {
  readonly code = "GRANT_INVALID";
}

/** A controller made a call without a declared permission. Its generated Role does not allow the call, either. */
export class AccessNotDeclaredError extends SchemaError {
  readonly code = "ACCESS_NOT_DECLARED";
}

/** The API server accepted the CustomResourceDefinition but does not serve it. */
export class CrdNotEstablishedError extends SchemaError {
  readonly code = "CRD_NOT_ESTABLISHED";
}
