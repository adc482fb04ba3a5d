// Validation of pod specs in the order of the API server. Covers common mistakes, not every rule.
import { type ApiObject, type JsonObject, listAt, objectAt, sameJson } from "../json.ts";
import { duplicate, type FieldError, forbiddenField, invalid, notFoundField, required } from "../server/field-error.ts";
import { dnsLabelErrors } from "./names.ts";
import { isPort, notNegative, oneOf, portText, resourceErrors } from "./validation.ts";

const probeNumbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/**
 * `field` is the path of the spec: "spec" or "spec.template.spec". `claims` are the volumes from the claim templates of a
 * StatefulSet; they replace volumes of the same name.
 */
export function podSpecErrors(spec: JsonObject, field: string, claims: readonly JsonObject[] = []): readonly FieldError[] {
  const volumes = listAt(spec, "volumes");
  const mountable = [...volumes, ...claims];
  const containers = listAt(spec, "containers");
  const inits = listAt(spec, "initContainers");
  return [
    ...named(volumes, `${field}.volumes`),
    ...(containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...named(containers, `${field}.containers`, (container, at) => containerErrors(container, at, mountable)),
    ...named(inits, `${field}.initContainers`, (container, at) => containerErrors(container, at, mountable), containers),
    ...oneOf(`${field}.restartPolicy`, spec.restartPolicy, ["Always", "OnFailure", "Never"]),
    ...oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]),
    ...notNegative(`${field}.terminationGracePeriodSeconds`, spec.terminationGracePeriodSeconds),
  ];
}

/** Validation that applies to pods but not to templates. */
export function podErrors(pod: ApiObject): readonly FieldError[] {
  const images = listAt(pod, "spec", "containers").map(({ image }) => String(image ?? ""));
  const why = "must not have leading or trailing whitespace";
  return [
    ...podSpecErrors(objectAt(pod, "spec"), "spec"),
    ...images.flatMap((image, at) => (image === image.trim() ? [] : [invalid(`spec.containers[${at}].image`, image, why)])),
  ];
}

/** Validates a list of named items: each name must be a unique DNS label. */
function named(
  list: readonly JsonObject[],
  field: string,
  more: (each: JsonObject, at: string) => readonly FieldError[] = () => [],
  others: readonly JsonObject[] = [],
): readonly FieldError[] {
  const seen = new Set(others.map(({ name }) => name));
  return list.flatMap((each, index) => {
    const at = `${field}[${index}]`;
    const errors = [...nameErrors(each.name, `${at}.name`, seen), ...more(each, at)];
    seen.add(each.name);
    return errors;
  });
}

function nameErrors(name: unknown, field: string, seen: ReadonlySet<unknown>): readonly FieldError[] {
  if (typeof name !== "string" || name === "") return [required(field)];
  const errors = dnsLabelErrors(field, name);
  return errors.length === 0 && seen.has(name) ? [duplicate(field, name)] : errors;
}

function containerErrors(container: JsonObject, field: string, volumes: readonly JsonObject[]): readonly FieldError[] {
  return [
    ...(container.image ? [] : [required(`${field}.image`)]),
    ...["livenessProbe", "readinessProbe", "startupProbe"].flatMap((probe) =>
      probeErrors(objectAt(container, probe), `${field}.${probe}`),
    ),
    ...listAt(container, "ports").flatMap((port, at) => portErrors(port, `${field}.ports[${at}]`)),
    ...listAt(container, "env").flatMap(({ name }, at) => (name ? [] : [required(`${field}.env[${at}].name`)])),
    ...listAt(container, "volumeMounts").flatMap((mount, at) => mountErrors(mount, `${field}.volumeMounts[${at}]`, volumes)),
    ...oneOf(`${field}.imagePullPolicy`, container.imagePullPolicy, ["Always", "IfNotPresent", "Never"]),
    ...resourceErrors(`${field}.resources`, objectAt(container, "resources")),
  ];
}

function probeErrors(probe: JsonObject, field: string): readonly FieldError[] {
  return probeNumbers.flatMap((number) => notNegative(`${field}.${number}`, probe[number]));
}

function portErrors({ containerPort }: JsonObject, field: string): readonly FieldError[] {
  if (containerPort === undefined || containerPort === 0) return [required(`${field}.containerPort`)];
  return isPort(containerPort) ? [] : [invalid(`${field}.containerPort`, containerPort, portText)];
}

function mountErrors({ name, mountPath }: JsonObject, field: string, volumes: readonly JsonObject[]): readonly FieldError[] {
  if (!name) return [required(`${field}.name`)];
  return [
    ...(volumes.some((volume) => volume.name === name) ? [] : [notFoundField(`${field}.name`, name)]),
    ...(mountPath ? [] : [required(`${field}.mountPath`)]),
  ];
}

const changeable =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** An update can change images, shorten the deadline, add tolerations, and remove scheduling gates. */
export function podUpdateErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const [now, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  const fields = ["containers", "initContainers"].filter((each) => listAt(now, each).length !== listAt(before, each).length);
  if (fields.length > 0)
    return fields.map((each) => forbiddenField(`spec.${each}`, "pod updates may not add or remove containers"));
  const gone = listAt(before, "tolerations").some((each) => !listAt(now, "tolerations").some((kept) => sameJson(each, kept)));
  if (sameJson(withoutChangeable(now), withoutChangeable(before)) && !gone) return deadlineErrors(now, before);
  return [forbiddenField("spec", changeable)];
}

function withoutChangeable(spec: JsonObject): JsonObject {
  const imageless = (containers: readonly JsonObject[]) => containers.map(({ image: _, ...rest }) => rest);
  const { activeDeadlineSeconds: _a, tolerations: _t, schedulingGates: _g, ...rest } = spec;
  return {
    ...rest,
    containers: imageless(listAt(spec, "containers")),
    initContainers: imageless(listAt(spec, "initContainers")),
  };
}

function deadlineErrors({ activeDeadlineSeconds: now }: JsonObject, { activeDeadlineSeconds: before }: JsonObject) {
  const field = "spec.activeDeadlineSeconds";
  if (typeof before !== "number" || now === before) return [];
  if (typeof now !== "number") return [invalid(field, null, "must not update from a positive integer to nil value")];
  return now > before ? [invalid(field, now, "must be less than or equal to previous value")] : [];
}
