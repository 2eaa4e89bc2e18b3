"""Writes a catalogue as XML."""
import xmltodict

items = [{"@id": str(i), "name": f"article {i}", "price": str(i * 3), "tags": {"tag": ["a", "b", "c"]}}
         for i in range(6000)]
print(len(xmltodict.unparse({"catalogue": {"item": items}})))
