// Package oncall plays incidents among thirty healthy pools, on the local CVM and a
// real Kubernetes, and reads the screen of whoever is on call: 80 columns by 24 rows
// have to name the cause and the remedy. Nothing lives in here but tests.
package oncall
