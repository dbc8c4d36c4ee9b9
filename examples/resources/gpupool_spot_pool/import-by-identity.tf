import {
  to = gpupool_spot_pool.train
  identity = {
    region = "ap-singapore"
    name   = "train"
  }
}
