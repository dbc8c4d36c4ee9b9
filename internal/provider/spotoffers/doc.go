// Package spotoffers is the data source gpupool_spot_offers: what GPU instances
// cost in a region, and whether there are any.
package spotoffers
