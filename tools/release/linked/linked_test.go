package linked

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit = `MIT License

Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.
`
	own = "This software is for members of the club only, who must not pass it on.\n"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	mpl, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"one":                   {mit, []string{"MIT"}, ""},
		"this project's":        {string(mpl), []string{"MPL-2.0"}, ""},
		"two":                   {mit + "\n" + string(mpl), []string{"MIT", "MPL-2.0"}, ""},
		"one not to be shipped": {gpl, []string{"GPL-3.0-or-later"}, "may not be shipped"},
		"one of two not":        {mit + "\n" + gpl, []string{"MIT", "GPL-3.0-or-later"}, "may not be shipped"},
		"none that is known":    {own, nil, "read it"},
		"a condition beside":    {mit + strings.Repeat(own, 10), []string{"MIT"}, "read it"},
		"nothing":               {"", nil, "read it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids, err := Classify([]byte(tt.text))
			if !slices.Equal(ids, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v", ids, err)
			}
		})
	}
}

// module lays a module into a folder, by the paths of its files.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLicensesOfWhatIsLinked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		texts []string
		err   string
	}{
		"the module's":           {map[string]string{"LICENSE": mit}, []string{"LICENSE"}, ""},
		"a notice beside it":     {map[string]string{"LICENSE.txt": mit, "NOTICE": "By Somebody."}, []string{"LICENSE.txt", "NOTICE"}, ""},
		"of a copy in a package": {map[string]string{"LICENSE": mit, "sub/pkg/LICENSE": gpl}, []string{"LICENSE", "sub/pkg/LICENSE"}, "GPL"},
		"between the two":        {map[string]string{"LICENSE": mit, "sub/COPYING": mit}, []string{"LICENSE", "sub/COPYING"}, ""},
		"of what is not linked":  {map[string]string{"LICENSE": mit, "cmd/LICENSE": gpl}, []string{"LICENSE"}, ""},
		"code that is called so": {map[string]string{"LICENSE": mit, "license.go": own}, []string{"LICENSE"}, ""},
		"must not pass it on":    {map[string]string{"LICENSE": own}, []string{"LICENSE"}, "read it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := module(t, tt.files)
			m := &Module{Path: "example.com/m", Version: "v1.0.0"}
			var errs []string
			dir := filepath.Join(root, "sub", "pkg")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, err := range m.read(root, dir, map[string]bool{}) {
				errs = append(errs, err.Error())
			}
			var texts []string
			for _, text := range m.Texts {
				texts = append(texts, text.Name)
			}
			slices.Sort(texts)
			if !slices.Equal(texts, tt.texts) || (len(errs) == 0) != (tt.err == "") || !strings.Contains(strings.Join(errs, ""), tt.err) {
				t.Errorf("texts %q, errors %q", texts, errs)
			}
		})
	}
}

// TestLinkedModules asks of this project what CI asks.
func TestLinkedModules(t *testing.T) {
	t.Parallel()
	modules, err := Modules(t.Context(), "../../..", Platform{OS: "linux", Arch: "arm64"})
	if err != nil {
		t.Fatal(err)
	}
	text := Document(modules)
	for _, want := range []string{
		"github.com/hashicorp/terraform-plugin-go v", "\nstd 1.", "Copyright 2009 The Go Authors",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q", want)
		}
	}
	std := modules[slices.IndexFunc(modules, func(m Module) bool { return m.Path == "std" })]
	if !slices.Equal(std.Licenses, []string{"BSD-3-Clause"}) {
		t.Errorf("the standard library is under %q", std.Licenses)
	}
	if strings.Contains(text, "pgregory.net/rapid") {
		t.Error("a module of tests alone is said to be linked")
	}
	if n := strings.Count(text, "TERMS AND CONDITIONS FOR USE, REPRODUCTION"); n > 12 {
		t.Errorf("the Apache License stands in it %d times", n)
	}
}
