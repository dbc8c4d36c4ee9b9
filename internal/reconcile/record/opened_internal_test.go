package record

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// TestOpenedDocumentsAreBounded: the recent ones become the earlier ones when they are full, and those
// before are forgotten.
func TestOpenedDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	hash := func(text string) contentHash { return sha256.Sum256([]byte(text)) }
	o := &openedDocuments{}
	for _, name := range []string{"a", "b", "b"} {
		o.keep(hash(name), name, openedAtMost/2)
	}
	if o.size != openedAtMost || len(o.recent) != 2 || o.earlier != nil {
		t.Fatalf("full, it has %d and %d documents of %d bytes", len(o.recent), len(o.earlier), o.size)
	}
	for n, name := range []string{"c", "d"} {
		o.keep(hash(name), name, openedAtMost)
		if len(o.recent) != 1 || o.size != openedAtMost || len(o.earlier) != 2-n {
			t.Errorf("with %s, it has %d and %d documents of %d bytes", name, len(o.recent), len(o.earlier), o.size)
		}
	}
	for name, kept := range map[string]bool{"a": false, "b": false, "c": true, "d": true} {
		if found := o.find(hash(name)); (found != nil) != kept {
			t.Errorf("%s is found: %v", name, found)
		}
	}
}

// TestLargeDocumentsAreNotKept: one would displace many. A smaller one is forgotten when others fill both generations.
func TestLargeDocumentsAreNotKept(t *testing.T) {
	t.Parallel()
	document := func(text string) []byte {
		data, err := declaration.Encode(declaration.RunSummary{RunID: "run", Leftovers: []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rest := len(document("x")) - 1
	for extra, kept := range map[int]bool{0: true, 1: false} {
		data := document(strings.Repeat("x", openedDocumentAtMost+extra-rest))
		if _, err := decode[declaration.RunSummary]("a summary", data); err != nil || len(data) != openedDocumentAtMost+extra {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if found := opened.find(sha256.Sum256(data)); (found != nil) != kept {
			t.Errorf("one of %d bytes is kept: %t", len(data), found != nil)
		}
	}
	first := document("first")
	for _, data := range [][]byte{first, document("second")} {
		if _, err := decode[declaration.RunSummary]("a summary", data); err != nil {
			t.Fatal(err)
		}
		opened.keep(sha256.Sum256(data[1:]), nil, openedAtMost)
	}
	if opened.find(sha256.Sum256(first)) != nil {
		t.Error("the first is not forgotten")
	}
}
