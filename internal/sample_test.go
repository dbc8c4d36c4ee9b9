package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sampled is a TestMain that plays a fixed sample, by itself or as those of worlds do.
var sampled = regexp.MustCompile(`func TestMain\(m \*testing\.M\) \{[^}]*\b(soaktest|reconciletest|providertest)\.Main\(`)

// TestPropertiesHaveAFixedSample fails for a package whose properties draw other cases in each
// make test, which then fails by chance.
func TestPropertiesHaveAFixedSample(t *testing.T) {
	t.Parallel()
	draws, fixed := map[string]bool{}, map[string]bool{}
	for _, top := range []string{".", "../tools"} {
		err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			dir := filepath.Dir(name)
			draws[dir] = draws[dir] || strings.Contains(string(text), "\t\"pgregory.net/rapid\"\n")
			fixed[dir] = fixed[dir] || sampled.Match(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for dir, is := range draws {
		if !is {
			continue
		}
		count++
		if !fixed[dir] {
			t.Errorf("%s checks properties, and has no TestMain with soaktest.Main", dir)
		}
	}
	if count < 20 {
		t.Errorf("only %d packages check properties", count)
	}
}
