import {
  to = gpupool_stock_pool.g1
  identity = {
    namespace = "default"
    name      = "pool-g1"
  }
}
