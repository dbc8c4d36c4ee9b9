import {
  to = gpupool_spot_pool.train
  id = "ap-singapore/train"
}
