//go:build race

package conservation_test

func init() { draws = "100" }
