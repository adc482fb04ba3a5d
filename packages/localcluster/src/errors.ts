// Every error that localcluster throws on purpose, in one catalogue. A program goes by `code`, which never changes; a person
// reads `message`, which says what was expected, what was found and, where there is something, what to do about it. Whatever
// went wrong underneath is kept as `cause`.
export * from "./errors/binaries.ts";
export * from "./errors/cluster.ts";
export { LocalClusterError, reasonOf } from "./errors/error.ts";
export * from "./errors/node.ts";
