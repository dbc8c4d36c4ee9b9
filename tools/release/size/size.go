// Package size lists the modules of a binary, and the size of each.
package size

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Part is the size of a module in a binary, in bytes.
type Part struct {
	Module string
	Code   int // its functions
	Data   int // its variables with a value
}

// rest is code without another module's name. Types, strings and line tables have no module,
// and are not counted as code.
const rest = "the standard library"

// Parts are those of what go tool nm -size prints of a binary with symbols, the
// largest code first. modules are the paths of the modules that are linked.
func Parts(nm io.Reader, modules []string) ([]Part, error) {
	of := map[string]*Part{}
	for lines := bufio.NewScanner(nm); ; {
		if !lines.Scan() {
			return sorted(of), lines.Err()
		}
		var address string
		var size int
		var kind rune
		if n, _ := fmt.Sscanf(lines.Text(), "%s %d %c", &address, &size, &kind); n < 3 {
			continue // a symbol of another file, without an address
		}
		_, name, _ := strings.Cut(lines.Text(), " "+string(kind)+" ")
		module := moduleOf(strings.ReplaceAll(name, "%2e", "."), modules)
		if of[module] == nil {
			of[module] = &Part{Module: module}
		}
		switch kind {
		case 't', 'T':
			of[module].Code += size
		case 'r', 'R', 'd', 'D':
			of[module].Data += size
		}
	}
}

func sorted(of map[string]*Part) []Part {
	parts := make([]Part, 0, len(of))
	for _, p := range of {
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Code, a.Code), cmp.Compare(b.Data, a.Data), strings.Compare(a.Module, b.Module))
	})
	return parts
}

// moduleOf returns the module with the longest path that is a prefix of a symbol's name. It
// ignores type arguments in brackets.
func moduleOf(name string, modules []string) string {
	name, _, _ = strings.Cut(name, "[")
	name = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(name, "type:"), "go:itab."), ".*")
	longest := ""
	for _, module := range modules {
		if len(module) > len(longest) && (strings.HasPrefix(name, module+"/") || strings.HasPrefix(name, module+".")) {
			longest = module
		}
	}
	return cmp.Or(longest, rest)
}
