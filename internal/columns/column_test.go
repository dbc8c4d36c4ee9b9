package columns

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// TestNoCountIsBelieved: counts that announce more than is there, or is wanted, make
// room for nothing.
func TestNoCountIsBelieved(t *testing.T) {
	t.Parallel()
	endless := binary.AppendUvarint(nil, 1<<62)
	if got, ok := runs([]uint32(nil), append(endless, 7), 3, 3); !ok || !slices.Equal(got, []uint32{7, 7, 7}) {
		t.Errorf("a run of many is read as %v (%v)", got, ok)
	}
	for name, packed := range map[string][]byte{
		"none": nil, "no run": {0, 1}, "no bits": {1}, "too few bits": {5, 255}, "groups without end": append(binary.AppendUvarint(nil, 1<<63|1), 255),
	} {
		if got, ok := runs([]uint32(nil), packed, 3, 5); ok {
			t.Errorf("%s: read as %v", name, got)
		}
	}
	footer := []byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07} // a schema of 2^31 - 1 elements
	var meta format.FileMetaData
	if _, err := decodeThrift(footer, &meta); err == nil || cap(meta.Schema) > len(footer) {
		t.Errorf("a list of many is read, of %d (%v)", cap(meta.Schema), err)
	}
}
