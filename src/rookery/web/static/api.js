// Requests to the server, and the session whose token they need.

/** Begin the session, or begin it again with another server; returns what the page starts with. */
export async function beginSession() {
  const session = await request("GET", "/api/session");
  request.token = session.token;
  return session;
}

const AWAY = "the server is away; try again when it is back";

/** Wait for something from the server; what the browser says if there is none helps nobody. */
export async function reached(promise) {
  try {
    return await promise;
  } catch (error) {
    throw new Error(AWAY, { cause: error });
  }
}

/** Send a request; an error carries the server's text and status. */
export async function request(method, path, body) {
  const options = { method, headers: {} };
  if (method !== "GET") {
    options.headers["x-rookery-token"] = request.token;
    options.headers["content-type"] = "application/json";
  }
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await reached(fetch(path, options));
  const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
  if (!answer.ok) {
    const error = new Error(isJson ? (await answer.json()).error : await answer.text());
    error.status = answer.status;
    throw error;
  }
  return isJson ? answer.json() : answer.text();
}
request.token = "";
