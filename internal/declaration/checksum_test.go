package declaration_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
)

// rehash gives a document the checksum that its body needs. What is no document
// stays as it is.
func rehash(t *testing.T, document []byte) []byte {
	t.Helper()
	var all map[string]json.RawMessage
	if json.Unmarshal(document, &all) != nil || all["body"] == nil {
		return document
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, all["body"]); err != nil {
		t.Fatal(err)
	}
	all["checksum"] = fmt.Appendf(nil, "%q", fmt.Sprintf("sha256:%x", sha256.Sum256(compact.Bytes())))
	forged, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
