// Package spotpool defines declarations and observations of spot pools, and decisions about
// them as data. Package spotpool/journal is what the store keeps of a pool between runs.
// Package spotpool/decide decides, and package reconcile/spotpools carries that out.
//
// It exports many names: values of the resource's arguments, kinds and reasons of decisions,
// and the parts of an observation. Each has its own file; validate*.go checks declarations.
//
// It does no IO, and reads neither a clock nor the environment.
package spotpool
