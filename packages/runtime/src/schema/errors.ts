// What can go wrong between a definition and a cluster. Each class has a stable `code`; messages say what was expected,
// what was found and what to write instead.

abstract class SchemaError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A definition contradicts itself or Kubernetes: a bad name, a column or a rule for a field that does not exist. */
export class ResourceDefinitionError extends SchemaError {
  readonly code = "RESOURCE_DEFINITION_INVALID";
}

/** Something zod can say that a CustomResourceDefinition cannot. Better refused here than silently weaker in the cluster. */
export class NotStructuralError extends SchemaError {
  readonly code = "SCHEMA_NOT_STRUCTURAL";
  /** Where in the object: "spec.backups[].at". */
  readonly path: string;

  constructor(path: string, found: string, instead: string) {
    super(`${path}: ${found} cannot be expressed in a CustomResourceDefinition; ${instead}`);
    this.path = path;
  }
}

/** An object does not fit its schema. One line per fault, each with its path. */
export class InvalidObjectError extends SchemaError {
  readonly code = "OBJECT_INVALID";
  readonly faults: readonly string[];

  constructor(what: string, faults: readonly string[]) {
    super([`${what} does not fit its schema:`, ...faults].join("\n  "));
    this.faults = faults;
  }
}

/** A grant that no Kubernetes role can express. */
export class GrantError extends SchemaError {
  readonly code = "GRANT_INVALID";
}

/** A controller tried what it never declared. The role printed from its declaration would not allow it either. */
export class AccessNotDeclaredError extends SchemaError {
  readonly code = "ACCESS_NOT_DECLARED";
}

/** The API server took the definition but does not serve it. */
export class CrdNotEstablishedError extends SchemaError {
  readonly code = "CRD_NOT_ESTABLISHED";
}
