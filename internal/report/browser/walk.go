package browser

import (
	"encoding/json"
	"fmt"
	"strings"
)

// stopsMax is how many elements a page may have that the keyboard stops at: a walk that goes on has
// no end.
const stopsMax = 3000

// press presses a key and waits for nothing.
func (b *Browser) press(name string) {
	b.t.Helper()
	codes := map[string]int{"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13,
		"Escape": 27, "/": 191, "Tab": 9, " ": 32}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := Fields{"type": kind, "key": name, "windowsVirtualKeyCode": codes[name]}
		if text := map[string]string{"Enter": "\r", " ": " "}[name]; text != "" && kind == "keyDown" {
			event["text"] = text // without it the browser presses nothing
		}
		b.Call("Input.dispatchKeyEvent", event)
	}
}

// Key presses a key and waits until its effect is drawn, or the page is left by it.
func (b *Browser) Key(name string) {
	b.t.Helper()
	b.press(name)
	b.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))", true)
}

// focusables are the elements that a reader without a mouse must get to.
const focusables = `a[href], button:not(:disabled), input, select, summary, [tabindex="0"]`

// stop says where the keyboard is, and what is wrong with it: nothing shows that it is there, as
// there is no outline or it is clipped, or it stands under the bar at the top.
const stop = `(() => { const one = document.activeElement;
	if (one === null || one === document.body) return 'outside';
	if (one.dataset.reached === '1') return 'again';
	one.dataset.reached = '1';
	const style = getComputedStyle(one), box = one.getBoundingClientRect(), bar = document.querySelector('.top');
	const name = one.tagName + ' ' + (one.getAttribute('aria-label') ?? one.textContent).slice(0, 60);
	if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) return 'nothing shows the focus of ' + name;
	const by = parseFloat(style.outlineOffset) + 1;
	const sides = { left: box.left - by, right: box.right + by, top: box.top - by, bottom: box.bottom + by };
	for (let above = one.parentElement; above !== null && above !== document.body; above = above.parentElement) {
		if (getComputedStyle(above).overflowX === 'visible') continue;
		const clip = above.getBoundingClientRect();
		if (sides.left < clip.left && sides.right > clip.right && sides.top < clip.top && sides.bottom > clip.bottom) {
			return 'the focus is cut off: ' + name;
		}
	}
	if (box.bottom < 1 || box.top >= innerHeight) return 'out of sight: ' + name;
	const under = bar !== null && !bar.contains(one) && getComputedStyle(bar).position === 'sticky' &&
		box.bottom <= bar.getBoundingClientRect().bottom;
	return under ? 'under the bar: ' + name : ''; })()`

// Walk goes through the page by the tabulator, from where it is once around, and says what is wrong
// with any stop, and what it did not get to.
func (b *Browser) Walk() (stops int, wrong []string) {
	b.t.Helper()
	for outside := 0; stops < stopsMax && outside < 2; {
		b.press("Tab")
		told := b.Eval(stop)
		if told == "again" {
			break
		}
		if told == "outside" { // behind the last element, or it has none
			outside++
			continue
		}
		stops++
		if told != "" {
			wrong = append(wrong, told)
		}
	}
	var missed []string
	answer := b.Eval(`JSON.stringify([...document.querySelectorAll('` + focusables + `')]
		.filter((one) => one.checkVisibility() && one.dataset.reached !== '1').map((one) => one.outerHTML.slice(0, 120)))`)
	if err := json.Unmarshal([]byte(answer), &missed); err != nil {
		b.t.Fatalf("list what was missed: %v", err)
	}
	for _, one := range missed {
		wrong = append(wrong, "the tabulator does not get to "+one)
	}
	return stops, wrong
}

// TabTo presses the tabulator until it is at an element that matches, and whose text begins as
// given.
func (b *Browser) TabTo(selector, text string) {
	b.t.Helper()
	for range stopsMax {
		b.press("Tab")
		if b.Eval(fmt.Sprintf(`document.activeElement.matches(%q) &&
			document.activeElement.textContent.trim().startsWith(%q)`, selector, text)) == "true" {
			return
		}
	}
	b.t.Fatalf("the tabulator never comes to %s %s", selector, strings.TrimSpace(text))
}

// EmptyRows tells the rows of tables that are taller than what is seen of them without scrolling
// sideways: as the page is, and with words as much narrower and wider as those of other fonts are.
const EmptyRows = `(() => JSON.stringify(['', '-.04em', '.08em'].flatMap((spacing) => {
	const sheet = new CSSStyleSheet();
	if (spacing !== '') sheet.replaceSync('* { letter-spacing: ' + spacing + ' !important; }');
	document.adoptedStyleSheets = [sheet];
	const found = [...document.querySelectorAll('.tablescroll tr')].filter((row) => {
		const seen = row.closest('.tablescroll').getBoundingClientRect().right - 30;
		const tall = [...row.cells].filter((one) => one.getBoundingClientRect().left < seen).map((one) => {
			const content = document.createRange();
			content.selectNodeContents(one);
			return content.getBoundingClientRect().height;
		});
		return row.checkVisibility() && row.getBoundingClientRect().height > Math.max(...tall) + 34;
	});
	document.adoptedStyleSheets = [];
	return found.map((row) => spacing + ' ' + row.innerText.slice(0, 80));
})))()`
