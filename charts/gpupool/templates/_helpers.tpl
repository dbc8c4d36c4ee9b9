{{- define "gpupool.runNamespace" -}}
{{- $.Values.runNamespace | default (printf "%s-run" $.Values.namespace) -}}
{{- end -}}

{{- define "gpupool.image" -}}
{{- printf "%s:%s" $.Values.image.repository ($.Values.image.tag | default $.Chart.AppVersion) -}}
{{- end -}}

{{- define "gpupool.tlsSecret" -}}
{{- $.Values.serve.tlsSecret | default "gpupool-serve-tls" -}}
{{- end -}}

{{- /* The file of gpupool declare. */ -}}
{{- define "gpupool.budgets" -}}
{{- dict "budgets" ($.Values.budgets | default dict) | toYaml -}}
{{- end -}}

{{- /* The number of base64 characters of all groups, up to which a policy decodes. */ -}}
{{- define "gpupool.groupsSize" -}}
{{- mul (div (add (len (join "," $.Values.bootstrapGroups)) 2) 3) 4 -}}
{{- end -}}
