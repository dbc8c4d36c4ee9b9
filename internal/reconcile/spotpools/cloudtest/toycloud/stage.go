package toycloud

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// change changes the state without an API call. Its callers are the methods of cloudtest.Stage.
func (c *Cloud) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// Step moves the clock on.
func (c *Cloud) Step(d time.Duration) { c.change(func() { c.now = c.now.Add(d) }) }

// DelayTags makes the tags of later launches show after d.
func (c *Cloud) DelayTags(d time.Duration) { c.change(func() { c.tagDelay = d }) }

// LoseResponse loses the response to the next launch.
func (c *Cloud) LoseResponse() { c.change(func() { c.lose = true }) }

// Protect turns termination protection on.
func (c *Cloud) Protect(id string) { c.change(func() { c.instances[id].protected = true }) }

// Reclaim takes an instance away.
func (c *Cloud) Reclaim(id string) { c.change(func() { delete(c.instances, id) }) }

// Deny refuses every later call.
func (c *Cloud) Deny() { c.change(func() { c.denied = true }) }

// SellOut leaves no stock in a market.
func (c *Cloud) SellOut(m spotpool.Market) {
	c.change(func() {
		for n := range c.offers {
			if c.offers[n].Market == m {
				c.offers[n].Stock = spotpool.StockNone
			}
		}
	})
}
