# A spot pool is imported by its region and name, from the store's record or,
# where there is none, from the tags of its instances.
terraform import gpupool_spot_pool.train ap-singapore/train
