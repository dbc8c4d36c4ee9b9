import {
  to = gpupool_stock_pool.g1
  id = "default/pool-g1"
}
