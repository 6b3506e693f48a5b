// A worker that sends a message at an interval (ms). Browsers do not slow down the timers of a worker when its page is in the background.
onmessage = ({ data }) => setInterval(() => postMessage(null), data);
