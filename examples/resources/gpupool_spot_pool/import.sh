# The ID is region/name. gpupool reads the store's record or, if there is none, the tags of
# the pool's instances.
terraform import gpupool_spot_pool.train ap-singapore/train
