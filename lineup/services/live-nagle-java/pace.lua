-- Each connection waits some milliseconds between an answer and its next request, so that both sides get the same traffic.
function delay() return tonumber(os.getenv("PACE") or "5") end
