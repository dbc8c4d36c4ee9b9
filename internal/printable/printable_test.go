package printable_test

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

func TestControlCharactersAreWrittenOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":                          {"", ""},
		"train":                     {"train", "train"},
		"Zürich 甲 组 🙂":              {"Zürich 甲 组 🙂", "Zürich 甲 组 🙂"},
		"\x1b]0;title\x07":          {`\u001b]0;title\u0007`, `\u001b]0;title\u0007`},
		"a\tb\nc":                   {"a\tb\nc", `a\u0009b\u000ac`},
		"a\rb":                      {`a\u000db`, `a\u000db`},
		"\u009b2J":                  {`\u009b2J`, `\u009b2J`},
		"\x9b2J":                    {`\x9b2J`, `\x9b2J`},
		"\u202egnp.exe":             {`\u202egnp.exe`, `\u202egnp.exe`},
		"\x7f":                      {`\u007f`, `\u007f`},
		"\ufffd, and \xff after it": {"\ufffd, and \\xff after it", "\ufffd, and \\xff after it"},
	} {
		if got := [2]string{printable.Text(text), printable.Line(text)}; got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// FuzzText: nothing that steers is left, and JSON stays the same JSON.
func FuzzText(f *testing.F) {
	for _, text := range []string{"train", "\x1b[2J", "\u009b", "\xff", "\ufffd", "\u2066"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range printable.Line(text) {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is shown as %q", text, printable.Line(text))
			}
		}
		if !utf8.ValidString(printable.Line(text)) || printable.Line(printable.Line(text)) != printable.Line(text) {
			t.Fatalf("%q is shown as %q", text, printable.Line(text))
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(data, &before) != nil || json.Unmarshal([]byte(printable.Text(string(data))), &after) != nil || before != after {
			t.Fatalf("%s is read as %q, and then as %q", data, before, after)
		}
	})
}
