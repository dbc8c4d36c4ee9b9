// Package clitest has what tests of several commands share: golden files, reports
// with everything that can happen, and the guides that show what commands print.
package clitest
