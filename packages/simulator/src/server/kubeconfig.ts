// A kubeconfig for kubectl. JSON is YAML, so no library is needed to write it.

/** Everyone is admin, but over TLS kubectl asks for a password rather than saying nothing about itself. */
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
      users: [{ name: "admin", user: authority === undefined ? {} : { token: "anything" } }],
    },
    undefined,
    2,
  );
}
