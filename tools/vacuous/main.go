// Vacuous finds tests that pass if the code under test returns nothing, because each of their
// failures is inside a loop over what it returned. It is run by go vet, which caches its results:
//
//	go vet -vettool=bin/vacuous ./...
//
// There is no way to suppress a finding: compare the whole result, check its length, or count
// the turns of the loop.
package main

import "golang.org/x/tools/go/analysis/unitchecker"

func main() { unitchecker.Main(analyzer) }
