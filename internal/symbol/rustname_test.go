package symbol

import "testing"

func TestPlainRust(t *testing.T) {
	for name, want := range map[string]string{
		"<std::time::Instant>::now":                          "std::time::Instant::now",
		"<alloc::sync::Arc<std::thread::Packet>>::drop_slow": "alloc::sync::Arc<std::thread::Packet>::drop_slow",
		"<store::Pool<fn(u8) -> u8>>::take":                  "store::Pool<fn(u8) -> u8>::take",
		"<store::Shelf as core::ops::drop::Drop>::drop":      "<store::Shelf as core::ops::drop::Drop>::drop",
		"<<store::Shelf>::put::{closure#2} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}"://
		"<<store::Shelf>::put::{{closure}} as core::ops::function::FnOnce<()>>::call_once::{{vtable.shim}}",
		"<[u8]>::sort": "<[u8]>::sort",
		"store::main":  "store::main",
		"<":            "<",
		"<a>":          "<a>",
		"":             "",
	} {
		if got := plainRust(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	const instant = "_RNvMNtCs3O3DIgl4uAb_3std4timeNtB2_7Instant3now"
	if got := Demangle(instant); got != "std::time::Instant::now" {
		t.Errorf("%s: %s", instant, got)
	}
}
