terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

locals {
  replicas = 3
  limits   = { cpu = "8", "nvidia.com/gpu" = 2 }
}

# One pod has "2" GPUs.
output "of_a_pod" {
  value = provider::gpupool::gpu_count(local.limits)
}

# All replicas use 144 GPU-hours a day.
output "gpu_hours_a_day" {
  value = provider::gpupool::gpu_hours(provider::gpupool::gpu_count(local.limits), "24h") * local.replicas
}

# A MIG slice is "1/7" of a GPU.
output "of_a_slice" {
  value = provider::gpupool::gpu_count({ "nvidia.com/mig-1g.5gb" = 1 })
}

# If four pods share each GPU, two shares are "0.5".
output "where_gpus_are_shared" {
  value = provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2 }, { "nvidia.com/gpu" = "1/4" })
}
