vllm serve {{ model }} \
{% if eager %}
  --enforce-eager \
{% endif %}
  --swap-space 4
vllm serve <your-model> --swap-space {{ .Values.swap | default "4" }} --port ${PORT:-8000} --dtype $(pick dtype)
