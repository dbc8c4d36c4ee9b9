# "16.000": two GPUs for eight hours.
output "a_working_day" {
  value = provider::gpupool::gpu_hours(2, "8h")
}

# "1.000": a seventh of a GPU for seven hours, without any rounding.
output "a_slice" {
  value = provider::gpupool::gpu_hours("1/7", "7h")
}

# A limit that lets a pool of four instances with two GPUs each run for 20 days.
output "a_month" {
  value = provider::gpupool::gpu_hours(4 * 2, "20d")
}
