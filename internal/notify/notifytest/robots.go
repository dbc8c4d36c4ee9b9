package notifytest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// coded returns a response with a code, of which the HTTP status says nothing.
func coded(codeKey string, code int, messageKey, message string) reply {
	body, err := json.Marshal(map[string]any{codeKey: code, messageKey: message})
	if err != nil {
		panic(err)
	}
	return reply{status: http.StatusOK, header: map[string]string{"Content-Type": "application/json"}, body: string(body)}
}

// weComMarkup finds what WeCom parses in a Markdown message.
var (
	weComMarkup = regexp.MustCompile(`<@[^>]*>|<a [^>]*>`)
	unicodeCode = regexp.MustCompile(`(^|[^\\])(\\\\)*\\u[0-9a-fA-F]{4}`)
)

// weCom enforces the 2,048 and 4,096 bytes of a copy of the guide to group robots,
// https://037163.com/service/2020-06-18/1078.html. The rate is that of
// https://tencentcloud.com/jp/document/product/248/38208, 20 messages a minute. The codes are those of
// https://developer.work.weixin.qq.com/document/path/90455.
func (s *Server) weCom(r *http.Request, body []byte) reply {
	refuse := func(code int, message string) reply { return coded("errcode", code, "errmsg", message) }
	if r.URL.Query().Get("key") != Key {
		return refuse(93000, "invalid webhook url")
	}
	if unicodeCode.Match(body) {
		return refuse(40033, "invalid request character")
	}
	var m struct {
		Type string `json:"msgtype"`
		Text struct {
			Content   string   `json:"content"`
			Mentioned []string `json:"mentioned_list"`
			Mobiles   []string `json:"mentioned_mobile_list"`
		} `json:"text"`
		Markdown struct {
			Content string `json:"content"`
		} `json:"markdown"`
	}
	if json.Unmarshal(body, &m) != nil {
		return refuse(40035, "invalid parameter")
	}
	a := Arrival{Text: m.Text.Content, Mentions: slices.Concat(m.Text.Mentioned, m.Text.Mobiles)}
	most := 2048
	switch m.Type {
	case "text":
	case "markdown":
		a.Text, most = m.Markdown.Content, 4096
	default:
		return refuse(40008, "invalid message type")
	}
	a.Mentions = append(a.Mentions, weComMarkup.FindAllString(a.Text, -1)...)
	if a.Text == "" || len(a.Text) > most {
		return refuse(40058, fmt.Sprintf("%s.content exceed max length %d. invalid Request Parameter", m.Type, most))
	}
	if s.exceeds(map[time.Duration]int{time.Minute: 20}) {
		return refuse(45009, "api freq out of limit")
	}
	accept := refuse(0, "ok")
	accept.arrival = &a
	return accept
}

// signature returns the HMAC-SHA256 of a text, in base64.
func signature(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// near reports whether a time is at most an hour from now.
func (s *Server) near(at time.Time) bool { return s.now().Sub(at).Abs() <= time.Hour }

// dingTalk enforces the signature and the keywords of https://www.mihaoyun.com/wordpress/?p=391, and
// the limit of https://gitbook.curiouser.top/origin/dingding-customrobot.html: after 20 messages in a
// minute, it refuses all for ten minutes.
func (s *Server) dingTalk(r *http.Request, body []byte) reply {
	refuse := func(code int, message string) reply { return coded("errcode", code, "errmsg", message) }
	query := r.URL.Query()
	if query.Get("access_token") != Key {
		return refuse(300005, "token is not exist")
	}
	if s.Secret != "" {
		at, err := strconv.ParseInt(query.Get("timestamp"), 10, 64)
		if err != nil || !s.near(time.UnixMilli(at)) {
			return refuse(310000, "invalid timestamp")
		}
		if query.Get("sign") != signature(s.Secret, query.Get("timestamp")+"\n"+s.Secret) {
			return refuse(310000, "sign not match")
		}
	}
	var m struct {
		Type string `json:"msgtype"`
		Text struct {
			Content string `json:"content"`
		} `json:"text"`
		At struct {
			Mobiles []string `json:"atMobiles"`
			Users   []string `json:"atUserIds"`
			All     bool     `json:"isAtAll"`
		} `json:"at"`
	}
	switch {
	case json.Unmarshal(body, &m) != nil || m.Text.Content == "":
		return refuse(40035, "invalid parameter")
	case m.Type != "text":
		return refuse(400105, "unsupported message type")
	case len(body) > 20_000:
		return refuse(460101, "message too long, exceed 20000 bytes")
	case !strings.Contains(m.Text.Content, s.Keyword):
		return refuse(310000, "keywords not in content")
	}
	if now := s.now(); now.Before(s.blocked) || s.exceeds(map[time.Duration]int{time.Minute: 20}) {
		if !now.Before(s.blocked) {
			s.blocked, s.recent = now.Add(10*time.Minute), nil
		}
		return refuse(130101, "send too fast, exceed 20 times per minute")
	}
	a := Arrival{Text: m.Text.Content, Mentions: slices.Concat(m.At.Mobiles, m.At.Users)}
	if m.At.All {
		a.Mentions = append(a.Mentions, "all")
	}
	accept := refuse(0, "ok")
	accept.arrival = &a
	return accept
}

// feishu enforces https://open.larkoffice.com/document/ukTMukTMukTM/ucTM5YjL3ETO24yNxkjN.md: five
// messages a second, 100 a minute, 20 KB.
func (s *Server) feishu(r *http.Request, body []byte) reply {
	refuse := func(code int, message string) reply { return coded("code", code, "msg", message) }
	if !strings.HasSuffix(r.URL.Path, "/"+Key) {
		return refuse(19001, "param invalid: incoming webhook access token invalid")
	}
	var m struct {
		Type      string `json:"msg_type"`
		Timestamp string `json:"timestamp"`
		Sign      string `json:"sign"`
		Content   struct {
			Text string `json:"text"`
			Post map[string]struct {
				Title   string                `json:"title"`
				Content [][]map[string]string `json:"content"`
			} `json:"post"`
		} `json:"content"`
	}
	bad := refuse(9499, "Bad Request")
	bad.status = http.StatusBadRequest
	if json.Unmarshal(body, &m) != nil || len(body) > 20<<10 || m.Type != "post" && m.Type != "text" {
		return bad
	}
	if s.Secret != "" {
		at, err := strconv.ParseInt(m.Timestamp, 10, 64)
		if err != nil || !s.near(time.Unix(at, 0)) || m.Sign != signature(m.Timestamp+"\n"+s.Secret, "") {
			return refuse(19021, "sign match fail or timestamp is not within one hour from current time")
		}
	}
	a := Arrival{Text: m.Content.Text}
	if strings.Contains(a.Text, "<at ") { // only a text message parses it
		a.Mentions = append(a.Mentions, "at")
	}
	for _, post := range m.Content.Post {
		a.Text += post.Title + "\n"
		for _, line := range post.Content {
			for _, element := range line {
				switch element["tag"] {
				case "text", "a":
					a.Text += element["text"]
				case "at":
					a.Mentions = append(a.Mentions, element["user_id"])
				default:
					return bad
				}
			}
			a.Text += "\n"
		}
	}
	switch {
	case strings.TrimSpace(a.Text) == "":
		return bad
	case !strings.Contains(a.Text, s.Keyword):
		return refuse(19024, "Key Words Not Found")
	case s.exceeds(map[time.Duration]int{time.Second: 5, time.Minute: 100}):
		return refuse(11232, "frequency limited")
	}
	accept := refuse(0, "success")
	accept.arrival = &a
	return accept
}
