// Package bench measures gpupool's processes at three sizes against the local CVM and a
// local Kubernetes, each beside something comparable that takes turns with it: the
// tables of docs/guides/performance.md. It is run by make bench; -short measures at a
// tenth of the sizes.
//
// A row has seconds (s), of processor time too (cpu-s), and the peak memory in millions
// of bytes (peak-MB); those with /base are ratios to the row that it stands beside, the
// first of its group.
package bench
