locals {
  replicas = 3
  limits   = { cpu = "8", "nvidia.com/gpu" = 2 }
}

# "2", of one pod.
output "of_a_pod" {
  value = provider::gpupool::gpu_count(local.limits)
}

# 144 GPU-hours a day, of all replicas.
output "gpu_hours_a_day" {
  value = provider::gpupool::gpu_hours(provider::gpupool::gpu_count(local.limits), "24h") * local.replicas
}

# "1/7", of a MIG slice.
output "of_a_slice" {
  value = provider::gpupool::gpu_count({ "nvidia.com/mig-1g.5gb" = 1 })
}

# "0.5", where four pods share each GPU.
output "where_gpus_are_shared" {
  value = provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2 }, { "nvidia.com/gpu" = "1/4" })
}
