"""Makes models of the tables of a shop, and reads rows by them."""
import json
from typing import List, Optional

import pydantic


def models(table):
    """The models of a table: of its rows and of its pages."""
    class Line(pydantic.BaseModel):
        article: str
        count: int
        note: Optional[str] = None

    class Row(pydantic.BaseModel):
        id: int
        name: str
        lines: List[Line]

    class Page(pydantic.BaseModel):
        number: int
        rows: List[Row]

    Line.__doc__ = Row.__doc__ = Page.__doc__ = f"Of table {table}."
    return Page


total = 0
for table in range(170):
    page = {"number": table, "rows": [
        {"id": i, "name": f"n{i}", "lines": [{"article": "a", "count": i}] * 3} for i in range(15)]}
    read = models(table)(**json.loads(json.dumps(page)))
    total += sum(line.count for row in read.rows for line in row.lines)
print(total)
