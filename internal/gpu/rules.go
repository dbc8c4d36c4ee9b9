package gpu

// Rules say what counts as a GPU.
type Rules struct {
	// Weights are GPUs a unit by resource, in the place of the defaults or beside
	// them: exact rationals such as "1", "1/7" or "0.25".
	Weights map[string]string
}
