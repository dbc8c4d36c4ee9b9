package control

import _ "embed" // help.txt

//go:embed help.txt
var help string

// Help documents the control surface, for people.
func Help() string { return help }
