// Package bench measures gpupool's processes at three sizes against the local CVM and a
// local Kubernetes, each beside something comparable that takes turns with it: the
// tables of docs/internals/performance.md. It is run by make bench; -short measures at a
// tenth of the sizes.
//
// A row has seconds (s), seconds of processor time (cpu-s), and the peak memory in millions of
// bytes (peak-MB). Those with /base are ratios to the first row of the group.
package bench
