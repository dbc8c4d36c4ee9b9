// Package markets is the journal's record of a pool's markets: which of them cool down, and
// the prices of those in use.
//
// It does no IO, and reads neither a clock nor the environment.
package markets
