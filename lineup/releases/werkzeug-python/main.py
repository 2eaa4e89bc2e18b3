"""Receives an uploaded file."""
import io

from werkzeug.formparser import FormDataParser

body = (b"--frontier\r\nContent-Disposition: form-data; name=file; filename=data.bin\r\n\r\n\r"
        + b"x" * 6_000_000 + b"\r\n--frontier--\r\n")
stream, form, files = FormDataParser().parse(
    io.BytesIO(body), "multipart/form-data", len(body), {"boundary": "frontier"})
print(len(files))
