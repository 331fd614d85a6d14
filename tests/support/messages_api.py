#!/usr/bin/env python3
"""An imitation of Anthropic's Messages API on loopback, for tests of programs that speak it.

messages_api.py SCRIPT [--log FILE]

Prints "listening PORT" and serves until its standard input ends. SCRIPT is a JSON array of answers.
Each request that offers tools takes the next one. When they are used up, and for requests without
tools (titles, warm-ups), the answer is a short text.

An answer is an object with any of
  content    blocks: {"type": "text", "text": …}, {"type": "tool_use", "name": …, "input": {…}};
             a text alone may be a plain string
  usage      {"input_tokens": …, "output_tokens": …}
  status     an HTTP status other than 200, with
  error      {"type": …, "message": …}
  cut_after  how many events of a stream are sent before the connection is closed
  any        true: also a request without tools may take it

--log FILE gets each request as a line {"path": …, "headers": {…}, "body": …}.
"""

import argparse
import http.server
import itertools
import json
import sys
import threading

DEFAULT_USAGE = {"input_tokens": 10, "output_tokens": 5}


class Script:
    """The answers, handed out one by one to whichever connection asks."""

    def __init__(self, answers, log):
        self._answers = list(answers)
        self._log = log
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    def take(self, request):
        with self._lock:
            if self._answers and (request.get("tools") or self._answers[0].get("any")):
                return self._answers.pop(0)
        return {"content": ["Done."]}

    def new_id(self, kind):
        with self._lock:
            return f"{kind}_{next(self._ids):024d}"

    def record(self, path, headers, body):
        if self._log:
            with self._lock, open(self._log, "a", encoding="utf-8") as file:
                entry = {"path": path, "headers": dict(headers), "body": body}
                file.write(json.dumps(entry) + "\n")


def blocks_of(answer, script):
    """The content blocks of an answer, complete."""
    blocks = []
    for block in answer.get("content", []):
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if block["type"] == "tool_use":
            block = {"id": script.new_id("toolu"), "input": {}, **block}
        blocks.append(block)
    return blocks


def message_of(answer, request, script):
    blocks = blocks_of(answer, script)
    calls_tool = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": script.new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "imitation"),
        "content": blocks,
        "stop_reason": "tool_use" if calls_tool else "end_turn",
        "stop_sequence": None,
        "usage": {**DEFAULT_USAGE, **answer.get("usage", {})},
    }


def pieces(text, size=16):
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def events_of(message):
    """The message as the events of a stream, in their order on the wire."""
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            empty = {**block, "input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in pieces(json.dumps(block["input"]))
            ]
        else:
            empty = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def log_message(self, *_):
        pass

    def send_json(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error_body(self, status, kind, message):
        self.send_json(status, {"type": "error", "error": {"type": kind, "message": message}})

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.script.record(self.path, self.headers, None)
        self.send_error_body(404, "not_found_error", "there is nothing here")

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        try:
            request = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return self.send_error_body(400, "invalid_request_error", "the body is not JSON")
        self.script.record(self.path, self.headers, request)
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            return self.send_json(200, {"input_tokens": 10})
        if path != "/v1/messages":
            return self.send_error_body(404, "not_found_error", "there is nothing here")
        return self.answer(request)

    def answer(self, request):
        answer = self.script.take(request)
        if answer.get("status", 200) != 200:
            error = answer.get("error", {})
            return self.send_error_body(
                answer["status"], error.get("type", "api_error"), error.get("message", "scripted")
            )
        message = message_of(answer, request, self.script)
        if not request.get("stream"):
            return self.send_json(200, message)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in itertools.islice(events_of(message), answer.get("cut_after")):
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            self.wfile.write(data.encode())
            self.wfile.flush()
        return None


def main():
    parser = argparse.ArgumentParser(description="Imitates the Messages API on loopback.")
    parser.add_argument("script")
    parser.add_argument("--log")
    arguments = parser.parse_args()
    with open(arguments.script, encoding="utf-8") as file:
        Handler.script = Script(json.load(file), arguments.log)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"listening {server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
