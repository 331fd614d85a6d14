"""An MCP server (2025-11-25, stdio) that does what a client must bear.

odd_mcp_server.py [MODE…]
  exits-on-probe    ends when the first request is not "initialize"
  silent-on-probe   never answers server/discover
  paged             lists its tools on several pages
  endless-pages     always has one more page
  tells-changes     says that its list of tools can change
"""

import json
import os
import sys
import time

modes = sys.argv[1:]
received = []
lists = 0


def put(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(id, text):
    put({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    received.append(message)
    return message


def ask(method):
    put({"jsonrpc": "2.0", "id": "from-server-" + method, "method": method})
    return read()


def call(message):
    id, tool = message["id"], message["params"]["name"]
    if tool == "environment":
        answer(id, "\n".join(sorted(os.environ)))
    elif tool == "die":
        sys.stderr.write("goodbye\n")
        sys.stderr.flush()
        os._exit(3)
    elif tool == "garbage":
        sys.stdout.write('starting up…\n\n{"jsonrpc":"2.0"\n[]\n{"jsonrpc":"2.0","id":[1],"method":"x"}\n')
        answer(id, "after garbage")
    elif tool == "huge":
        answer(id, "x" * (17 << 20))
    elif tool == "malformed":
        put({"jsonrpc": "2.0", "id": id, "result": {}, "error": {}})
    elif tool == "twice":
        answer(id + 1000, "somebody else's")
        answer(str(id), "not a number")
        answer(id, "first")
        answer(id, "second")
    elif tool == "batch":
        sys.stdout.write(json.dumps([
            {"jsonrpc": "2.0", "method": "notifications/unknown"},
            {"jsonrpc": "2.0", "id": id, "result": {"content": [], "structuredContent": {"in": "array"}}},
        ]) + "\n")
        sys.stdout.flush()
    elif tool == "ask":
        methods = ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "x/unknown"]
        answer(id, json.dumps([ask(method) for method in methods]))
    elif tool == "received":
        answer(id, json.dumps(received))
    elif tool == "progress":
        token = message["params"]["_meta"]["progressToken"]
        for params in [{"progressToken": 999}, {"progressToken": token, "progress": 1, "total": 2},
                       {"progressToken": token, "progress": 1.5, "message": "half"}, {}]:
            put({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        answer(id, "done")
    elif tool == "creeping":
        token = message["params"]["_meta"]["progressToken"]
        for i in range(10):
            time.sleep(0.1)
            put({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": i}})
        answer(id, "arrived")
    elif tool == "noisy":
        sys.stderr.write("noise " * 200_000)
        sys.stderr.flush()
        answer(id, "quiet")
    elif tool == "change":
        put({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        answer(id, "changed")
    elif tool == "lists":
        answer(id, str(lists))
    elif tool == "pid":
        answer(id, str(os.getpid()))
    elif tool == "refuse":
        put({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "not like that"}})
    elif tool == "error":
        put({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "no"}], "isError": True}})
    # Everything else is never answered.


def tool(name):
    return {"name": name, "description": name, "inputSchema": {"type": "object"}}


def list_tools(message):
    global lists
    lists += 1
    page = int(message["params"].get("cursor", "0"))
    if "endless-pages" in modes:
        return {"tools": [tool(f"t{page}")], "nextCursor": str(page + 1)}
    if "paged" in modes and page < 4:
        return {"tools": [tool(f"t{page}")], "nextCursor": str(page + 1)}
    return {"tools": [tool(f"t{page}")]}


first = True
while True:
    message = read()
    method = message.get("method")
    if first and method != "initialize" and "exits-on-probe" in modes:
        sys.exit("expected initialize")
    first = False
    if method == "initialize":
        put({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": "1999-01-01" if "ancient" in modes else "2025-06-18",
            "capabilities": {"tools": {"listChanged": "tells-changes" in modes}},
            "serverInfo": {"name": "odd", "version": "1"}}})
    elif method == "tools/list":
        put({"jsonrpc": "2.0", "id": message["id"], "result": list_tools(message)})
    elif method == "tools/call":
        call(message)
    elif method == "server/discover" and "silent-on-probe" in modes:
        pass
    elif "id" in message and method:
        put({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}})
