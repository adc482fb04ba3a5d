// The words that users write, and those we leave on their objects.
export const group = "kubedemo.com";

/** On a pod (or in a pod template): "true" asks to be monitored, "false" stops us before the next write. */
export const monitorAnnotation = "app-monitor.kubedemo.com/monitor";
/** On a bigger copy of a bare pod: the name of the first original, so that copies of copies are still the same app. */
export const appAnnotation = "app-monitor.kubedemo.com/app";
/** On a bigger copy of a bare pod: the UID of the pod it replaces. A label, so that a copy can be found by it. */
export const copyOfLabel = "app-monitor.kubedemo.com/copy-of";

/** Under this name we apply fields, and sign Events. */
export const operatorName = "memhog-operator";
