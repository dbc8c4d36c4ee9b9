// Package local starts the environment of the programs under tools: a local CVM, a local
// Kubernetes, and providers for terraform init without a network. Each server is a process of
// its own, and ends with the program that started it.
package local
