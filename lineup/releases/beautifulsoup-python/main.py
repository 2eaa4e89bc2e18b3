"""Collects links of a page."""
from bs4 import BeautifulSoup

page = "<html><body>" + "".join(
    f'<div class="row"><a href="/{i}" title="t{i}">link <b>{i}</b></a><p>text {i}</p></div>' for i in range(1500))
soup = BeautifulSoup(page, "html.parser")
print(len(soup.find_all("a")), len(soup.get_text()))
