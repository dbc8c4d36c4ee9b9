// Package spotpooldata is the data source gpupool_spot_pool: a pool's numbers
// and its machines. The resource of the same name has no list of machines,
// since each reclaimed one would show up in every plan.
package spotpooldata
