// Minimal CRDs of the Prometheus Operator, so that the API server accepts its objects.

const group = "monitoring.coreos.com";

export function stubsOf(...kinds: readonly string[]): readonly object[] {
  return kinds.map((kind) => {
    const plural = `${kind.toLowerCase()}s`;
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: anything } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [version] },
    };
  });
}
