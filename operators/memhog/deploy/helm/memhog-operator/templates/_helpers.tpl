{{/* The name of all objects: the release name, with the chart name in it. */}}
{{- define "memhog-operator.name" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Selector labels. They must not change between versions. */}}
{{- define "memhog-operator.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "memhog-operator.labels" -}}
{{ include "memhog-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The subjects of a RoleBinding or ClusterRoleBinding. */}}
{{- define "memhog-operator.bound" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "memhog-operator.name" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}
