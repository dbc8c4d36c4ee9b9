// Package bench measures processes of gpupool at three sizes against the local CVM and a
// local Kubernetes. Each takes turns with a comparable program. The results are the tables of
// docs/internals/performance.md. make bench runs it; -short measures a tenth of the sizes.
//
// A row has seconds (s), seconds of processor time (cpu-s), and the peak memory in millions of
// bytes (peak-MB). Those with /base are ratios to the first row of the group.
package bench
