// The viewers' page: puts its parts together.

import { Captions } from "./captions.js";
import { Controls } from "./controls.js";
import { showFigures } from "./figures.js";
import { $, say } from "./screen.js";
import { SeekBar } from "./seekbar.js";
import { Session } from "./session.js";
import { translate, word } from "./words.js";

const video = $("v"), query = new URLSearchParams(location.search);
// The requests use the signature of the page's own URL.
const signature = new URLSearchParams([...query].filter(([name]) => ["exp", "scope", "sig"].includes(name))).toString();
const address = (name) => (name ? new URL(`./${name}${signature ? `?${signature}` : ""}`, location.href).href : null);
const { playlist, whep, still, thumbnails, recording, window: windowSeconds } = video.dataset;

translate(document);
const session = new Session(video, {
  playlist: address(playlist), whep: address(whep), status: address("status.json"), recording: recording || null,
}, query.get("player"), Number(windowSeconds) || 0);
const seekBar = new SeekBar(session, address(thumbnails));
const controls = new Controls(session, seekBar, new Captions(session), address(still));
session.changed = () => controls.show();
setInterval(() => { seekBar.show(); controls.follow(); }, 250);
setInterval(() => showFigures(session), 500);

/** For tests, and for engineers in the browser's console. */
globalThis.tandem = { session, controls, video };

say("busy", word("connecting"));
session.begin();
controls.show();
