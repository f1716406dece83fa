{{- define "chatplatform.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "chatplatform.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "chatplatform.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "chatplatform.containerSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "chatplatform.environment" -}}
- {name: DATA_DIR, value: /data}
- {name: OMP_NUM_THREADS, value: "1"}
{{- end }}

{{- define "chatplatform.settingsData" -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "chatplatform.settings" -}}
- configMapRef: {name: {{ .Release.Name }}-environment}
- secretRef: {name: {{ .Values.secretName }}}
{{- end }}

{{- define "chatplatform.mounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "chatplatform.volumes" -}}
- {name: data, emptyDir: {}}
- {name: tmp, emptyDir: {}}
{{- end }}

{{- /* The pod of a command that works as the owner of the tables: root, name, command, and the
ConfigMap with its settings. */}}
{{- define "chatplatform.ownersPod" -}}
metadata:
  labels:
    {{- include "chatplatform.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  securityContext: {fsGroup: 10001}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "chatplatform.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: [python, manage.py, {{ .command }}]
      env: {{- include "chatplatform.environment" .root | nindent 8 }}
      envFrom:
        - configMapRef: {name: {{ .root.Release.Name }}-{{ .settings }}}
        - secretRef: {name: {{ .root.Values.secretName }}}
        {{- with .root.Values.ownerSecretName }}
        - secretRef: {name: {{ . }}}
        {{- end }}
      securityContext: {{- include "chatplatform.containerSecurity" .root | nindent 8 }}
      volumeMounts: {{- include "chatplatform.mounts" .root | nindent 8 }}
  volumes: {{- include "chatplatform.volumes" .root | nindent 4 }}
{{- end }}
