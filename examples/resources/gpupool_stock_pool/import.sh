# A stock pool is imported by its namespace and name: from the store's record, or else
# from a Deployment of that name, which the next apply takes over.
terraform import gpupool_stock_pool.g1 default/pool-g1
