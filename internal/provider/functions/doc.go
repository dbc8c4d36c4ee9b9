// Package functions are the provider's functions: plain, exact arithmetic on
// GPUs and hours for configurations. They ask nobody anything.
package functions
