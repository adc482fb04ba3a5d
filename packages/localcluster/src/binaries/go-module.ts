// The module that a build happens in. Kubernetes cannot be built by `go install k8s.io/kubernetes/cmd/…@v1.37.1`: its go.mod
// replaces its own libraries by folders of its repository ("staging"), and Go refuses replacements in a module that is not the
// main one. So we write a main module that asks for Kubernetes and puts the published versions of those libraries in their
// place. The same text with no replacements builds etcd and Helm.
//
// Never `go mod tidy` here: it also wants the modules of everybody's tests, some of which are nowhere to be found.

/** What we read of an upstream go.mod, as `go mod edit -json` prints it. */
export interface UpstreamModule {
  readonly Module: { readonly Path: string };
  readonly Go: string;
  readonly GoDebug?: readonly { readonly Key: string; readonly Value: string }[] | null;
  readonly Replace?: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[] | null;
}

/** The text of a go.mod that builds this version of that module. */
export function moduleFile(upstream: UpstreamModule, version: string): string {
  const staging = (upstream.Replace ?? []).filter(({ New }) => New.Path.startsWith("./staging/")).map(({ Old }) => Old.Path);
  return [
    "module localcluster/build",
    `go ${upstream.Go}`,
    // They decide how the standard library behaves (which ciphers, which HTTP limits): take upstream's decision, not ours.
    ...(upstream.GoDebug ?? []).map(({ Key, Value }) => `godebug ${Key}=${Value}`),
    `require ${upstream.Module.Path} v${version}`,
    ...staging.map((path) => `replace ${path} => ${path} v${libraryVersion(version)}`),
    "",
  ].join("\n");
}

/** Kubernetes 1.37.1 publishes its libraries as 0.37.1. */
function libraryVersion(version: string): string {
  return version.replace(/^1\./, "0.");
}
