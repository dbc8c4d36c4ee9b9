terraform {
  required_providers { gpupool = { source = "gpupool/gpupool" } }
}

# Two GPUs for eight hours are "16.000".
output "a_working_day" {
  value = provider::gpupool::gpu_hours(2, "8h")
}

# A seventh of a GPU for seven hours is "1.000", without rounding.
output "a_slice" {
  value = provider::gpupool::gpu_hours("1/7", "7h")
}

# Four instances with two GPUs each for 20 days are "3840.000".
output "a_month" {
  value = provider::gpupool::gpu_hours(4 * 2, "20d")
}
