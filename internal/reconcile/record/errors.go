package record

import (
	"fmt"
	"strings"
)

// ExistsError says that something can't be created because it exists.
type ExistsError struct {
	Title, Noun, Key string // "spot pool", "pool", "ap-singapore/train"
	What             string // "the store … has a record of it", "2 instances …"
}

// Error names the thing, what was found, and the import that takes it over.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("the %s %s exists already: %s. To manage it here, import it: terraform import ADDRESS %s. To have another %s, give it another name", e.Title, e.Key, e.What, e.Key, e.Noun)
}

// AbsentError says that the store has nothing of a name.
type AbsentError struct {
	Title, Key, Store string
	Known             []string // the names of those that it has
}

// Error names what is missing, the store, and what there is instead.
func (e *AbsentError) Error() string {
	text := fmt.Sprintf("the store %s has no %s %q", e.Store, e.Title, e.Key)
	if len(e.Known) == 0 {
		return text + ", nor any other: use the store that it was declared in"
	}
	return text + "; it has " + strings.Join(e.Known, ", ")
}
