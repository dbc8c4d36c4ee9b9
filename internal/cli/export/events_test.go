package export

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// TestFilesWithoutCurrenciesAreReadOn: an export adds to files from before the columns were added.
func TestFilesWithoutCurrenciesAreReadOn(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile("../../history/testdata/without_currency.parquet")
	if err != nil {
		t.Fatal(err)
	}
	titles := history.Titles()
	const added = 2
	if last := strings.Join(titles[len(titles)-added:], " "); last != "currency details" {
		t.Fatalf("the last columns are %s", last)
	}
	about := history.About{At: time.Unix(1_800_000_000, 0), Object: "spot_pool/ap-singapore/train"}
	event := about.Priced(history.Offering{}, "SPOTPAID", "1.90", "", time.Time{})
	cells := event.Cells()
	lines := strings.Join(titles[:len(titles)-added], ",") + "\n" + strings.Join(cells[:len(cells)-added], ",") + "\n"
	for format, file := range map[string][]byte{asParquet: old, asCSV: []byte(lines)} {
		next, err := eventTable.source(format, io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file))))
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		count := 0
		for ; err == nil; count++ {
			var e entry[history.Event]
			if e, err = next(); err == nil && format == asCSV && len(e.cells) != len(titles) {
				t.Errorf("%s: %d cells", format, len(e.cells))
			}
			if err == nil && format == asParquet && (e.row.Currency != "" || e.row.ID == "") {
				t.Errorf("%s: %+v", format, e.row)
			}
		}
		if count < 2 || !errors.Is(err, io.EOF) {
			t.Errorf("%s: %d entries, %v", format, count-1, err)
		}
	}
}
