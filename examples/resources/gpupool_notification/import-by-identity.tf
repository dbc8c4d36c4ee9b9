import {
  to = gpupool_notification.gpu
  identity = {
    name = "gpu"
  }
}
