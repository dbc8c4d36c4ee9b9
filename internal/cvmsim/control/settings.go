package control

import (
	"cmp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Settings are the options that can change while the server runs; nil fields stay as they are.
type Settings struct {
	LaunchDelay        *world.Duration `json:"launch_delay,omitempty"`
	ListingDelay       *world.Duration `json:"listing_delay,omitempty"`
	TagDelay           *world.Duration `json:"tag_delay,omitempty"`
	TerminateDelay     *world.Duration `json:"terminate_delay,omitempty"`
	LaunchFailedLinger *world.Duration `json:"launch_failed_linger,omitempty"`
	EnforceRates       *bool           `json:"enforce_rates,omitempty"`
	TagKeyNotFound     *bool           `json:"tag_key_not_found,omitempty"`
	TagValuesPerKey    *int            `json:"tag_values_per_key,omitempty"`
	TokenMismatchCode  *string         `json:"token_mismatch_code,omitempty"`
	RecycleBin         *bool           `json:"recycle_bin,omitempty"`
	// Balance is the account's balance in CNY, a decimal string. A launch that costs more in one
	// hour is rejected.
	Balance *string `json:"balance,omitempty"`
}

// Configure changes settings while the server runs.
func (p *Panel) Configure(c Settings) error {
	err := cmp.Or(
		notNegative("launch_delay", wire.Or(c.LaunchDelay, 0)), notNegative("listing_delay", wire.Or(c.ListingDelay, 0)),
		notNegative("tag_delay", wire.Or(c.TagDelay, 0)), notNegative("terminate_delay", wire.Or(c.TerminateDelay, 0)),
		notNegative("launch_failed_linger", wire.Or(c.LaunchFailedLinger, 0)),
		notNegative("tag_values_per_key", wire.Or(c.TagValuesPerKey, 0)),
	)
	if err != nil {
		return err
	}
	var balance world.Money
	if c.Balance != nil {
		if balance, err = world.ParseMoney(*c.Balance); err != nil {
			return fieldError("balance", "%v, not %q", err, *c.Balance)
		}
	}
	return p.store.Change(func(w *world.World) error {
		c.apply(&w.Settings)
		if c.Balance != nil {
			w.Settings.Balance = balance
		}
		return nil
	})
}

// apply changes all given settings except the balance.
func (c Settings) apply(set *world.Settings) {
	assignDuration(&set.LaunchDelay, c.LaunchDelay)
	assignDuration(&set.ListingDelay, c.ListingDelay)
	assignDuration(&set.TagDelay, c.TagDelay)
	assignDuration(&set.TerminateDelay, c.TerminateDelay)
	assignDuration(&set.LaunchFailedLinger, c.LaunchFailedLinger)
	set.EnforceRates = wire.Or(c.EnforceRates, set.EnforceRates)
	set.TagKeyNotFound = wire.Or(c.TagKeyNotFound, set.TagKeyNotFound)
	set.RecycleBin = wire.Or(c.RecycleBin, set.RecycleBin)
	set.TagValuesPerKey = wire.Or(c.TagValuesPerKey, set.TagValuesPerKey)
	set.TokenMismatchCode = wire.Or(c.TokenMismatchCode, set.TokenMismatchCode)
}

func assignDuration(field *time.Duration, value *world.Duration) {
	if value != nil {
		*field = time.Duration(*value)
	}
}
