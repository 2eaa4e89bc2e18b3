package machine

import (
	"strings"
	"testing"
)

func TestFramed(t *testing.T) {
	got, err := framed("firmware\r\n" + start + "\r\none\r\n[    1.25] kernel talks\r\ntwo\r\n" + finish + "\r\n")
	if err != nil || got != "one\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := framed("firmware\n" + start + "\npanic"); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("a guest that died: %v", err)
	}
}
