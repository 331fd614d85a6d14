#!/usr/bin/env python3
"""An imitation of models' APIs on loopback, for tests of programs that speak them: Anthropic's
Messages API (/v1/messages) and Chat Completions (/v1/chat/completions, chat_completions.py).

messages_api.py SCRIPT [--log FILE] [--all]

Prints "listening PORT" and serves until its standard input ends. SCRIPT is a JSON array of answers.
Each request that offers tools takes the next one. When they are used up, and for requests without
tools (titles, warm-ups), the answer is a short text. With --all every request takes the next one.

An answer is an object with any of
  content      blocks: {"type": "text", "text": …}, {"type": "tool_use", "name": …, "input": {…}},
               {"type": "thinking", "thinking": …}; a text alone may be a plain string; an input that
               is a string is sent as it is, JSON or not
  usage        {"input_tokens": …, "output_tokens": …}
  stop_reason  instead of the one that the content gives
  any          true: also a request without tools may take it
  chat         how the peculiar servers of Chat Completions do it, see chat_completions.py
and, for what goes wrong,
  status       an HTTP status other than 200, with
  error        {"type": …, "message": …}, and
  headers      {"retry-after": …}
  hang_up      true: the connection is closed without an answer
  cut_after    how many events of a stream are sent before the connection is closed
  stall_after  how many are sent before nothing more comes
  insert       [n, "bytes"]: sent as they are after n events
  pause_ms     how long nothing comes before each event
  piece        how long the pieces of a text are (default 16)
  repeat       how often each piece of the first text is sent

--log FILE gets each request as a line {"path": …, "headers": {…}, "body": …}.
"""

import argparse
import http.server
import itertools
import json
import sys
import threading
import time

import chat_completions
from chat_completions import pieces

DEFAULT_USAGE = {"input_tokens": 10, "output_tokens": 5}


class Script:
    """The answers, handed out one by one to whichever connection asks."""

    def __init__(self, answers, log, takes_all):
        self._answers = list(answers)
        self._takes_all = takes_all
        self._log = log
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    def take(self, request):
        with self._lock:
            any_takes = self._takes_all or (self._answers and self._answers[0].get("any"))
            if self._answers and (any_takes or request.get("tools")):
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
        "stop_reason": answer.get("stop_reason", "tool_use" if calls_tool else "end_turn"),
        "stop_sequence": None,
        "usage": {**DEFAULT_USAGE, **answer.get("usage", {})},
    }


def events_of(message, answer):
    """The message as the events of a stream, in their order on the wire."""
    usage = message["usage"]
    size = answer.get("piece", 16)
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            empty = {**block, "input": {}}
            written = block["input"]
            if not isinstance(written, str):
                written = json.dumps(written)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(written)]
        elif block["type"] == "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
            ] + [{"type": "signature_delta", "signature": "c2lnbmVk"}]
        else:
            empty = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], size)]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            for _ in range(answer.get("repeat", 1) if index == 0 else 1):
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

    def send_json(self, status, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in dict(headers).items():
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error_body(self, status, kind, message, headers=()):
        error = {"type": kind, "message": message}
        self.send_json(status, {"type": "error", "error": error}, headers)

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
        if path == "/v1/messages":
            return self.answer(request, self.send_message)
        if path == "/v1/chat/completions":
            return self.answer(request, self.send_completion)
        return self.send_error_body(404, "not_found_error", "there is nothing here")

    def answer(self, request, send):
        answer = self.script.take(request)
        if answer.get("hang_up"):
            self.close_connection = True
            return None
        if answer.get("status", 200) != 200:
            error = answer.get("error", {})
            return self.send_error_body(
                answer["status"],
                error.get("type", "api_error"),
                error.get("message", "scripted"),
                answer.get("headers", {}),
            )
        return send(answer, request)

    def send_message(self, answer, request):
        message = message_of(answer, request, self.script)
        if not request.get("stream"):
            return self.send_json(200, message)
        events = events_of(message, answer)
        return self.send_stream(
            answer, (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        )

    def send_completion(self, answer, request):
        blocks = blocks_of(answer, self.script)
        return self.send_stream(
            answer, chat_completions.events_of(answer, blocks, request, self.script.new_id("chatcmpl"))
        )

    def send_stream(self, answer, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        place, inserted = answer.get("insert", [None, ""])
        end = answer.get("cut_after", answer.get("stall_after"))
        try:
            for number, data in enumerate(itertools.islice(events, end)):
                time.sleep(answer.get("pause_ms", 0) / 1000)
                self.wfile.write((inserted if number == place else "").encode())
                self.wfile.write(data.encode())
                self.wfile.flush()
            if "stall_after" in answer:
                self.rfile.read(1)  # until the client is gone
        except (BrokenPipeError, ConnectionResetError):
            pass


def main():
    parser = argparse.ArgumentParser(description="Imitates models' APIs on loopback.")
    parser.add_argument("script")
    parser.add_argument("--log")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.script, encoding="utf-8") as file:
        Handler.script = Script(json.load(file), arguments.log, arguments.all)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"listening {server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
