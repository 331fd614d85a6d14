"""The wire format of Chat Completions, streamed, for messages_api.py.

An answer's "chat" is an object with any of
  whole_calls  true: each call of a tool in one piece (Ollama, llama.cpp)
  ids          false: calls have no ids
  index        "none": calls have no index; "zero": all have the same
  objects      true: a call's arguments are an object instead of a text
  usage        false: none is sent, whether it was asked for or not
  done         false: the stream ends without [DONE]
  reasoning    what thoughts are called (default "reasoning_content")
  cached       how many of the input's tokens came from a cache
"""

import json

FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


def pieces(text, size=16):
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def call_deltas(block, number, chat):
    """The pieces of one call of a tool."""
    written = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
    place = {"none": {}, "zero": {"index": 0}}.get(chat.get("index"), {"index": number})
    name = {"type": "function"} if not chat.get("ids", True) else {"id": block["id"], "type": "function"}
    if chat.get("whole_calls"):
        arguments = block["input"] if chat.get("objects") else written
        yield {**place, **name, "function": {"name": block["name"], "arguments": arguments}}
        return
    yield {**place, **name, "function": {"name": block["name"], "arguments": ""}}
    for piece in pieces(written):
        yield {**place, "function": {"arguments": piece}}


def deltas_of(answer, blocks):
    chat = answer.get("chat", {})
    yield {"role": "assistant", "content": ""}
    calls = [block for block in blocks if block["type"] == "tool_use"]
    for place, block in enumerate(block for block in blocks if block["type"] != "tool_use"):
        name = "content" if block["type"] == "text" else chat.get("reasoning", "reasoning_content")
        for piece in pieces(block.get("text", block.get("thinking")), answer.get("piece", 16)):
            for _ in range(answer.get("repeat", 1) if place == 0 else 1):
                yield {name: piece}
    streams = [list(call_deltas(block, number, chat)) for number, block in enumerate(calls)]
    if chat.get("index") or not chat.get("ids", True):
        ordered = [delta for stream in streams for delta in stream]
    else:  # calls that are written side by side
        longest = max(map(len, streams), default=0)
        ordered = [stream[i] for i in range(longest) for stream in streams if i < len(stream)]
    for delta in ordered:
        yield {"tool_calls": [delta]}


def events_of(answer, blocks, request, identifier):
    """The lines of the stream, in their order on the wire."""
    chat = answer.get("chat", {})
    calls_tool = any(block["type"] == "tool_use" for block in blocks)
    reason = answer.get("stop_reason", "tool_use" if calls_tool else "end_turn")
    wants_usage = request.get("stream_options", {}).get("include_usage") and chat.get("usage", True)

    def chunk(choices, **more):
        head = {"id": identifier, "object": "chat.completion.chunk", "created": 1769178652}
        body = {**head, "model": request.get("model", "imitation"), "choices": choices, **more}
        return f"data: {json.dumps(body)}\n\n"

    unknown = {"usage": None} if wants_usage else {}
    for delta in deltas_of(answer, blocks):
        yield chunk([{"index": 0, "delta": delta, "finish_reason": None}], **unknown)
    yield chunk([{"index": 0, "delta": {}, "finish_reason": FINISH.get(reason, reason)}], **unknown)
    if wants_usage:
        usage = {"input_tokens": 10, "output_tokens": 5, **answer.get("usage", {})}
        counted = {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "total_tokens": usage["input_tokens"] + usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": chat.get("cached", 0)},
        }
        yield chunk([], usage=counted)
    if chat.get("done", True):
        yield "data: [DONE]\n\n"
