// A kubeconfig for kubectl. JSON is YAML, so no library is needed to write it.

export function kubeconfigFor(server: string, authority?: string): string {
  const trust = authority === undefined ? {} : { "certificate-authority-data": Buffer.from(authority).toString("base64") };
  const name = "simulator";
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, ...trust } }],
      contexts: [{ name, context: { cluster: name, user: "admin", namespace: "default" } }],
      "current-context": name,
      users: [{ name: "admin", user: {} }],
    },
    undefined,
    2,
  );
}
