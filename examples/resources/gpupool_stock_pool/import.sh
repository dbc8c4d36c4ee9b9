# The ID is namespace/name. gpupool reads the store's record or, if there is none, takes
# over a Deployment of that name with the next apply.
terraform import gpupool_stock_pool.g1 default/pool-g1
