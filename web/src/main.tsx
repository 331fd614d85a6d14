import { render } from "preact";
import "./style/fonts.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/threads.css";
import "./style/thread.css";
import "./style/markdown.css";
import "./style/views.css";
import { App } from "./app";
import { applyTheme } from "./lib/theme";

applyTheme();
render(<App />, document.getElementById("page")!);
