// The agents `echo` and `slow` as graphs of the reference server: they say what they were told, word
// by word, as Skein's engine `echo` does, and obey "/fail WORDS".
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

class Echo extends BaseChatModel {
  constructor(delayMs) {
    super({});
    this.delayMs = delayMs;
  }

  _llmType() {
    return "echo";
  }

  async *_streamResponseChunks(messages, options, manager) {
    const told = messages.findLast((message) => message.getType() === "human");
    const text = told ? String(told.content) : "";
    if (text.startsWith("/fail ")) throw new Error(text.slice(6));
    for (const piece of text.match(/\S+\s*/g) ?? []) {
      if (this.delayMs > 0) await new Promise((done) => setTimeout(done, this.delayMs));
      options.signal?.throwIfAborted();
      const message = new AIMessageChunk({ content: piece });
      yield new ChatGenerationChunk({ message, text: piece });
      await manager?.handleLLMNewToken(piece);
    }
  }

  async _generate(messages, options, manager) {
    let whole;
    for await (const chunk of this._streamResponseChunks(messages, options, manager)) {
      whole = whole ? whole.concat(chunk) : chunk;
    }
    return { generations: whole ? [whole] : [] };
  }
}

function echo(delayMs) {
  const model = new Echo(delayMs);
  const agent = async (state, config) => ({ messages: [await model.invoke(state.messages, config)] });
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile();
}

export const plain = echo(0);
export const slow = echo(300);
