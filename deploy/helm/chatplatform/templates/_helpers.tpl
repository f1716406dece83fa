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
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* What all pods share: where they run, as whom, and what they do not get. */}}
{{- define "chatplatform.pod" -}}
serviceAccountName: {{ .Values.serviceAccountName | default "default" }}
automountServiceAccountToken: false
# Else a Service called `redis` would set REDIS_PORT=tcp://….
enableServiceLinks: false
securityContext: {fsGroup: 10001}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
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
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
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
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "chatplatform.volumes" -}}
- {name: data, emptyDir: {}}
- {name: tmp, emptyDir: {}}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The pod of a command that works as the owner of the tables: root, name, command, and the
ConfigMap with its settings. */}}
{{- define "chatplatform.ownersPod" -}}
metadata:
  labels:
    {{- include "chatplatform.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  {{- include "chatplatform.pod" .root | nindent 2 }}
  restartPolicy: Never
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
      resources: {{- toYaml .root.Values.ownersResources | nindent 8 }}
  volumes: {{- include "chatplatform.volumes" .root | nindent 4 }}
{{- end }}
