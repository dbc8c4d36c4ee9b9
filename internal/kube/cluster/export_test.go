package cluster

// SetPageSize makes pages so small that a test has several.
func (c *Cluster) SetPageSize(n int) { c.pageSize = n }
