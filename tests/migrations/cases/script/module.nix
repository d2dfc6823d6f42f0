{ pkgs, cfg, ... }:
{
  virtualisation.oci-containers.containers.engine = {
    image = "vllm/vllm-openai:v0.8.5";
    environment = { VLLM_USE_V1 = "0"; HF_HOME = "/data"; };
    cmd = [ "--model" "org/chat" "--swap-space" "4" "--max-model-len" (toString cfg.length) ];
  };
  systemd.services.a.serviceConfig.ExecStart = "${pkgs.vllm}/bin/vllm serve ${cfg.model} --disable-log-requests";
  systemd.services.b.script = ''
    export VLLM_ATTENTION_BACKEND=FLASHINFER
    exec vllm serve org/chat \
      --swap-space 4
  '';
}
