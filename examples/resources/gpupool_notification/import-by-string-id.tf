import {
  to = gpupool_notification.gpu
  id = "gpu"
}
