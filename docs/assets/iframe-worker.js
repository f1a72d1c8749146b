// Browsers run no workers for pages that are opened from disk. There, the search of this site runs in
// a hidden frame instead: it gets the messages of the page, and its answers go back as messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow, worker = this;
      // A worker that posts a message means the page.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        worker.dispatchEvent(event);
        if (worker.onmessage) worker.onmessage(event);
      };
      script(inside, String(url)).then(() => {
        this.frame = frame;
        for (const data of this.waiting.splice(0)) this.postMessage(data);
      });
    }
    postMessage(data) {
      if (!this.frame) { this.waiting.push(data); return; }
      const inside = this.frame.contentWindow, event = new inside.MessageEvent("message", { data });
      inside.dispatchEvent(event);
      if (inside.onmessage) inside.onmessage(event);
    }
    terminate() { this.frame?.remove(); }
  };
}
function script(inside, source) {
  return new Promise((done, failed) => {
    const element = inside.document.createElement("script");
    element.src = source;
    element.onload = () => done();
    element.onerror = () => failed(new Error(`cannot load ${source}`));
    inside.document.body.append(element);
  });
}
