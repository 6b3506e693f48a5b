# Caches low-latency HLS of rooms for many viewers (Varnish 6.1 or later). Varnish fetches from the frontend "caches" of
# deploy/haproxy/rooms.cfg, which finds the rooms and holds requests while a worker is restarted, and HAProxy's "viewers" sends viewers
# here. Requests for an object that is being fetched wait for it without a thread and are answered the moment it arrives.
vcl 4.1;
import std;

backend rooms {
    .host = "127.0.0.1";
    .port = "8081";
    # Longer than HAProxy holds a request, plus a blocking playlist request.
    .first_byte_timeout = 120s;
    .between_bytes_timeout = 30s;
}

sub vcl_recv {
    # HTTP-FLV, also over WebSockets, is passed on as it arrives.
    if (req.url ~ "^[^?]*\.flv(\?|$)") {
        return (pipe);
    }
    # Rooms use no cookies. Requests with "Authorization" are not cached (built-in rule).
    unset req.http.Cookie;
    # The worker ignores the client's own measurements (CMCD), and they differ in each request. All other parameters are part of the
    # key: _HLS_msn, _HLS_part and _HLS_skip select a playlist, exp and sig of signed URLs are the right to an object.
    if (req.url ~ "[?&]CMCD=") {
        set req.url = regsub(regsuball(req.url, "([?&])CMCD=[^&]*&?", "\1"), "[?&]$", "");
    }
    # The worker itself checks URLs in which names of parameters are escaped, or whose expiry is not a time.
    if (req.url ~ "[?&][^=&]*%[^=]*=" || req.url ~ "[?&]exp=(?![0-9]{1,12}(&|$))") {
        return (pass);
    }
    # A signed URL that has expired is refused here, since the cache would still have its objects.
    if (req.url ~ "[?&]exp=" && std.real(regsub(req.url, "^.*?[?&]exp=([0-9]+).*$", "\1"), 0.0) <= std.time2real(now, 0.0)) {
        return (synth(403, "this URL has expired"));
    }
}

sub vcl_pipe {
    set bereq.http.Upgrade = req.http.Upgrade;
    set bereq.http.Connection = req.http.Connection;
}

sub vcl_backend_response {
    # Lifetimes are those of the worker's Cache-Control. A player that joins must not get an older playlist.
    set beresp.grace = 0s;
    # Not for a year: a room that begins again under the same id uses the same names again.
    if (beresp.ttl > 10m) {
        set beresp.ttl = 10m;
    }
    # Errors, and the 204 for a page that waits for the first playlist, are not cached, and requests for the same object do not wait
    # for one another meanwhile.
    if (beresp.status >= 400 || beresp.status == 204) {
        set beresp.ttl = 1s;
        set beresp.uncacheable = true;
        return (deliver);
    }
}

sub vcl_deliver {
    set resp.http.X-Cache = "MISS";
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    }
}
