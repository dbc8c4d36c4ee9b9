package packed

import "strings"

// Texts stores many short strings in shared pages.
type Texts struct{ pages []*strings.Builder }

// textPage is the size of a page in bytes; a text is shorter.
const textPage = 1 << 16

// Text is the position and length of a text.
type Text struct {
	At     uint32
	Length uint8
}

// Add stores a text.
func (t *Texts) Add(s string) Text {
	page, at := t.room(len(s))
	page.WriteString(s)
	return Text{At: at, Length: uint8(len(s))}
}

// AddBytes stores a text.
func (t *Texts) AddBytes(b []byte) Text {
	page, at := t.room(len(b))
	page.Write(b)
	return Text{At: at, Length: uint8(len(b))}
}

// room returns a page with room for a text, and where to write it.
func (t *Texts) room(length int) (page *strings.Builder, at uint32) {
	last := len(t.pages) - 1
	if last < 0 || t.pages[last].Len()+length > textPage {
		page = new(strings.Builder)
		page.Grow(textPage)
		t.pages = append(t.pages, page)
		last++
	}
	page = t.pages[last]
	return page, uint32(last)*textPage + uint32(page.Len())
}

// Get returns a stored text.
func (t *Texts) Get(x Text) string {
	at := x.At % textPage
	return t.pages[x.At/textPage].String()[at : at+uint32(x.Length)]
}
