// Writes what is made from the program and checked in.    node operators/memhog/src/manifests/write.ts
import { join } from "node:path";
import { writeManifests } from "@memhog/runtime";
import { manifests } from "../manifests.ts";
import { chartFiles } from "./chart.ts";

const top = join(import.meta.dirname, "../../../..");

/** Folders with files that are made from the program. */
export const generated = [
  { what: "kustomization", folder: join(top, "operators/memhog/deploy"), files: manifests },
  { what: "Helm chart", folder: join(top, "deploy/helm/memhog-operator"), files: chartFiles },
] as const;

if (import.meta.main)
  for (const { what, folder, files } of generated)
    console.log(`${what}: ${(await writeManifests(folder, files())).join(", ") || "nothing to change"}`);
