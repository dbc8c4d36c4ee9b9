//go:build race

package simulated_test

func init() { draws = "20" }
