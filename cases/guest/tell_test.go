package main

import (
	"strings"
	"testing"
)

func TestTell(t *testing.T) {
	const text = "Linux\n" + begins + "./a\n=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n=== RUN   TestTwo\n" +
		"    a_test.go:7: no gcc\n--- SKIP: TestTwo (0.00s)\nPASS\nexit 0\n" +
		begins + "./b\n=== RUN   TestThree\n    b_test.go:9: 1, not 2\n--- FAIL: TestThree (0.10s)\n=== RUN   TestFive\n" +
		"=== RUN   TestFive/part\n    b_test.go:12: 96 % inside\n--- PASS: TestFive (1.0s)\n    --- PASS: TestFive/part " +
		"(1.0s)\nFAIL\nexit 1\n" +
		begins + "./c\n=== RUN   TestFour\npanic: gone\nexit 2\n"
	var b strings.Builder
	err := tell(&b, text)
	if err == nil || !strings.Contains(err.Error(), "2 packages") {
		t.Errorf("error: %v", err)
	}
	for _, want := range []string{"Linux\n", "./a                                  1 passed   1 skipped   0 failed",
		"skipped: TestTwo", "no gcc", "FAILED: TestThree", "1, not 2", "passed: TestFive (1.0s)", "96 % inside",
		"did not come to its end", "panic: gone"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("without %q:\n%s", want, b.String())
		}
	}
}

func TestParse(t *testing.T) {
	wanted, err := parse([]string{"-arch", "arm64", "-tests", "./a,./b", "-run", "PMU", "uname"})
	if err != nil || wanted.arch.Name != "arm64" || len(wanted.packages) != 2 || wanted.script != "uname" {
		t.Errorf("%+v, %v", wanted, err)
	}
	if _, err := parse([]string{"-arch", "vax"}); err == nil || !strings.Contains(err.Error(), "vax") {
		t.Errorf("a machine that there is not: %v", err)
	}
	if text := script(wanted); !strings.Contains(text, "uname\n") || !strings.Contains(text, "-test.run 'PMU'") {
		t.Errorf("script: %s", text)
	}
}
