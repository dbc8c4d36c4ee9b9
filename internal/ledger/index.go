package ledger

import "strings"

// texts keeps many short strings side by side.
type texts struct{ pages []*strings.Builder }

// textPage is how many bytes a page takes; a text is shorter.
const textPage = 1 << 16

// text is where a text begins, and how long it is.
type text struct {
	at     uint32
	length uint8
}

func (t *texts) add(s string) text {
	page, at := t.room(len(s))
	page.WriteString(s)
	return text{at: at, length: uint8(len(s))}
}

func (t *texts) addBytes(b []byte) text {
	page, at := t.room(len(b))
	page.Write(b)
	return text{at: at, length: uint8(len(b))}
}

// room is the page that takes so many bytes more, and where they will be.
func (t *texts) room(length int) (page *strings.Builder, at uint32) {
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

func (t *texts) get(x text) string {
	at := x.at % textPage
	return t.pages[x.at/textPage].String()[at : at+uint32(x.length)]
}

// index finds numbers by the hash of what they stand for. It is a table with
// open addressing: a slot holds half of the hash above the number plus one.
type index struct {
	slots []uint64
	used  int
}

const numberBits = 32

// find returns the number of that hash that the function recognises.
func (x *index) find(hash uint64, same func(number uint32) bool) (uint32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(x.slots) - 1)
	half := hash >> numberBits
	for at := half & mask; x.slots[at] != 0; at = (at + 1) & mask {
		if x.slots[at]>>numberBits == half {
			if number := uint32(x.slots[at]) - 1; same(number) {
				return number, true
			}
		}
	}
	return 0, false
}

func (x *index) add(hash uint64, number uint32) {
	x.reserve(x.used + 1)
	x.put(hash>>numberBits<<numberBits | uint64(number+1))
	x.used++
}

// reserve makes room for so many numbers.
func (x *index) reserve(numbers int) {
	size := max(len(x.slots), 16)
	for numbers > size/4*3 {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]uint64, size)
	for _, slot := range old {
		if slot != 0 {
			x.put(slot)
		}
	}
}

func (x *index) put(slot uint64) {
	mask := uint64(len(x.slots) - 1)
	at := slot >> numberBits & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = slot
}
