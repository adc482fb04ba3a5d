// Writes the generated files of deploy/.    node operators/memhog/src/manifests/write.ts
import { join } from "node:path";
import { type ManifestFiles, writeManifests } from "@memhog/kit";
import { chartFiles } from "./chart.ts";
import { manifests } from "./manifests.ts";

export const deploy = join(import.meta.dirname, "../../deploy");

/** The files of deploy/ that are generated: kustomize, and the generated part of the Helm chart. */
export function generatedFiles(): ManifestFiles {
  const chart = Object.entries(chartFiles()).map(([path, content]) => [`helm/memhog-operator/${path}`, content] as const);
  return { ...manifests(), ...Object.fromEntries(chart) };
}

if (import.meta.main) {
  const changed = await writeManifests(deploy, generatedFiles());
  console.log(`operators/memhog/deploy: ${changed.join(", ") || "nothing to change"}`);
}
