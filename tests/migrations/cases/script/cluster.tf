# vllm/vllm-openai:v0.6.3 ran here before, with --use-v2-block-manager
resource "kubernetes_deployment" "chat" {
  spec {
    template {
      spec {
        container {
          image   = "vllm/vllm-openai:v0.8.5"
          args    = ["--model", var.model, "--swap-space", "4", "--tensor-parallel-size=${var.gpus}",
                     "--limit-mm-per-prompt", "image=4", "--speculative-config", "{\"method\": \"ngram\"}"]
          env {
            name  = "VLLM_USE_V1"
            value = "0"
          }
          env {
            name  = "NCCL_DEBUG"
            value = "INFO"
          }
        }
        container {
          image = "nginx:1.27"
          args  = ["--port", "80"]
        }
      }
    }
  }
}
