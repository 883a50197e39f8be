// Answers every request with the same small record: what an answer of Node's own server costs.
const body = JSON.stringify({
  data: { id: "vol-1", name: "vol-1", size: "10", status: "in-use", attached_to: "vm-1" },
});
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
const server = require("node:http").createServer((request, response) => {
  request.resume();
  response.writeHead(200, headers).end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
});
