// Package local starts what the programs under tools play with and measure
// against: a local CVM, a local Kubernetes, and providers where terraform init
// finds them without a network. Each server is a process of its own, and ends
// with the program that started it.
package local
