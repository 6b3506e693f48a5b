"""A scripted player of low-latency HLS, for many viewers in one process: follows the playlists with blocking reloads, fetches every
part (also the one that a preload hint names, before it exists) and every segment, and records what a viewer would see."""
import asyncio, functools, gzip, re, ssl, time, urllib.parse

INSECURE = ssl.create_default_context()
INSECURE.check_hostname, INSECURE.verify_mode = False, ssl.CERT_NONE


class Playlist:
    """A media playlist."""
    def __init__(self, text):
        self.map, self.hint = None, None
        self.items = []  # ((msn, part), name, end in seconds of wall time) or ((msn, None), name, None), in their order.
        msn = part = 0
        at, isGap, expected = None, False, r'URI="([^"]+)"'
        if not text.startswith("#EXTM3U"): raise ValueError("not a playlist")
        for line in text.splitlines():
            if line.startswith("#EXT-X-MEDIA-SEQUENCE:"): self.first = msn = int(line[22:])
            elif line.startswith("#EXT-X-SKIP:"):
                msn += int(re.search(r"SKIPPED-SEGMENTS=(\d+)", line)[1])
            elif line.startswith("#EXT-X-PART-INF:"): self.target = float(re.search(r"PART-TARGET=([\d.]+)", line)[1])
            elif line.startswith("#EXT-X-TARGETDURATION:"): self.duration = int(line[22:])
            elif line.startswith("#EXT-X-MAP:"): self.map = re.search(expected, line)[1]
            elif line.startswith("#EXT-X-PROGRAM-DATE-TIME:"): at = wall(line[25:])
            elif line.startswith("#EXT-X-PART:"):
                if at is not None: at += float(re.search(r"DURATION=([\d.]+)", line)[1])
                # A part with GAP=YES is listed, but clients must not load it.
                if "GAP=YES" not in line: self.items.append(((msn, part), re.search(expected, line)[1], at))
                part += 1
            elif line.startswith("#EXT-X-PRELOAD-HINT:"): self.hint = re.search(expected, line)[1]
            elif line == "#EXT-X-GAP": isGap = True
            elif line and not line.startswith("#"):
                if not isGap: self.items.append(((msn, None), line, None))
                msn, part, isGap = msn + 1, 0, False
        # Media sequence number and part of the next blocking request.
        self.next = msn, part
        self.isEnded = "#EXT-X-ENDLIST" in text


@functools.lru_cache(4096)
def wall(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@functools.lru_cache(512)
def parse(body): return Playlist(body.decode())


@functools.lru_cache(512)
def unzip(body): return gzip.decompress(body)


class Broken(Exception):
    """Raised if the connection was closed instead of a reply, or (`isCut`) in the middle of a reply."""
    isCut = False


class Connection:
    """One HTTP/1.1 connection that is kept open and opened again if the server has closed it between two requests."""
    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self.host, self.port, self.tls, self.io = at.hostname, at.port, at.scheme == "https", None
        self.turn = asyncio.Lock()

    async def get(self, path, fields=""):
        """Sends a request and returns (status, header fields in lower case, body). One request at a time."""
        async with self.turn:
            try: return await self.exchange(path, fields)
            except BaseException:
                # The rest of a reply that was not read would be taken for the next reply.
                self.close()
                raise

    async def exchange(self, path, fields):
        for attempt in (1, 2):
            isNew = self.io is None
            try:
                if isNew:
                    self.io = await asyncio.open_connection(self.host, self.port, ssl=INSECURE if self.tls else None, limit=1 << 20)
                reader, writer = self.io
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n{fields}\r\n".encode())
                head = await reader.readuntil(b"\r\n\r\n")
                break
            except (OSError, asyncio.IncompleteReadError) as error:
                self.close()
                # A kept connection may be closed at any time: like every client, try once more on a new one.
                if isNew or getattr(error, "partial", b""): raise Broken(f"{path}: {error!r}") from error
        try: return await self.read(reader, head)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            broken = Broken(f"{path}: cut off, {error!r}")
            broken.isCut = True
            raise broken from error

    async def read(self, reader, head):
        lines = head.decode("latin1").split("\r\n")
        status = int(lines[0].split(" ", 2)[1])
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readexactly(2)
        else: body = await reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection", "").lower() == "close": self.close()
        return status, fields, body

    def close(self):
        if self.io: self.io[1].close()
        self.io = None


class Pulse:
    """Measures how late this process itself runs. What it measures while other programs delay it says nothing about a front."""
    late = []  # (time, seconds)

    @classmethod
    async def beat(cls):
        while True:
            before = time.time()
            await asyncio.sleep(0.05)
            if (late := time.time() - before - 0.05) > 0.1: cls.late.append((time.time(), late))

    @classmethod
    def longest(cls, since): return max((late for at, late in cls.late if at >= since), default=0)


class Ledger:
    """The observations of all players of a run."""
    def __init__(self):
        self.requests, self.bad, self.cache, self.cut, self.late, self.replaced, self.back = 0, [], {}, 0, 0, 0, 0
        self.bytes = {}      # Name of a part, segment or initialization segment -> its bytes: the same for everyone, always.
        self.names = {}      # (track, msn, part or None) -> name.
        self.first = {}      # (track, msn, part) -> when the reference player had the playlist with it.
        self.lag = []        # Seconds by which other players had a playlist later than the reference player.
        self.isStrict = True # False around a restart: a hinted part may be missing then, and a connection may be cut.
        self.checked = set() # Playlists whose names have been compared.
        self.limit = None    # Number of requests after which players stop.

    def fault(self, text):
        if len(self.bad) < 1000: self.bad.append(f"{time.strftime('%H:%M:%S')} {text}")


class Player:
    """Plays one room: all tracks of the multivariant playlist.

    `stalls` are (time, seconds) in which a viewer who plays PART-HOLD-BACK behind the live edge would have waited."""
    def __init__(self, url, ledger, query="", isGzip=False, skips=False, isReference=False):
        self.base, self.ledger, self.query, self.isReference = url, ledger, query, isReference
        self.root = urllib.parse.urlsplit(url).path
        self.gzip, self.skips = "Accept-Encoding: gzip\r\n" if isGzip else "", skips
        self.stalls, self.head, self.edge, self.isStopped = [], None, None, False

    async def fetch(self, link, name, query="", mayMiss=False, end=None):
        """The body of an object; None if it is missing and may be, or if it is a part that is asked for too late. Repeats a request
        that fails, up to 30 times, and then ends the player.

        `end` is that of a part: parts are served for three target durations, and a player that asks later is too slow itself."""
        query = "&".join(text for text in (query, self.query) if text)
        path = f"{self.root}{name}{'?' + query if query else ''}"
        for attempt in range(30):
            self.ledger.requests += 1
            try: status, fields, body = await link.get(path, self.gzip)
            except Broken as error:
                if self.isStopped: raise asyncio.CancelledError from error
                # A front cannot repeat a reply after the viewer has received a part of it.
                if error.isCut and not self.ledger.isStrict: self.ledger.cut += 1
                else: self.ledger.fault(str(error))
                await asyncio.sleep(0.2)
                continue
            if (hit := fields.get("x-cache")): self.ledger.cache[hit] = self.ledger.cache.get(hit, 0) + 1
            if status == 200:
                return unzip(body) if fields.get("content-encoding") == "gzip" else body
            if status == 404 and mayMiss and not self.ledger.isStrict: return None
            if status == 404 and end and end < time.time() - 6:
                self.ledger.late += 1
                return None
            self.ledger.fault(f"{status} {path} {body[:80]}")
            await asyncio.sleep(0.2)
        raise asyncio.CancelledError

    async def run(self):
        link = Connection(self.base)
        text = (await self.fetch(link, "index.m3u8")).decode()
        link.close()
        tracks = re.findall(r'^#EXT-X-MEDIA:.*URI="([^"]+)"', text, re.M) + re.findall(r"^[^#\s].*$", text, re.M)
        tracks = [name.partition("?")[0] for name in tracks]
        await asyncio.gather(*(self.follow(track, track == tracks[-1]) for track in tracks))

    async def follow(self, track, isClock):
        lists, media, hints = (Connection(self.base) for _ in range(3))
        ahead, query, last = {}, "", None
        work, newest = asyncio.Queue(), [0]
        fetching = asyncio.create_task(self.download(media, work, ahead, newest, isClock))
        try:
            while not self.isStopped and not fetching.done():
                body = await self.fetch(lists, track, query)
                now = time.time()
                try: playlist = parse(body)
                except (ValueError, TypeError) as error:
                    self.ledger.fault(f"{track}?{query}: {error}")
                    await asyncio.sleep(0.2)
                    continue
                self.check(track, playlist, last, query, now)
                if last is None and isClock: self.head = now - max(end for _, _, end in playlist.items if end) + 3 * playlist.target
                # A player starts with the first part of the newest segment.
                after = last.next if last else (playlist.next[0] - (playlist.next[1] == 0), 0)
                if last is None: work.put_nowait((None, playlist.map, None))
                news = []
                for item in reversed(playlist.items):
                    (msn, part), name, end = item
                    if (msn, part) < after if part is not None else msn < after[0]: break
                    news.append(item)
                for item in reversed(news): work.put_nowait(item)
                newest[0] = max([end for _, _, end in news if end], default=newest[0])
                if playlist.hint and playlist.hint not in ahead:
                    behind = max([end for _, _, end in playlist.items[-3:] if end], default=now)
                    ahead[playlist.hint] = asyncio.create_task(self.hinted(hints, playlist.hint, behind + playlist.target))
                last = playlist
                if playlist.isEnded or self.ledger.limit and self.ledger.requests >= self.ledger.limit: break
                query = f"_HLS_msn={last.next[0]}&_HLS_part={last.next[1]}" + ("&_HLS_skip=YES" if self.skips else "")
        finally:
            fetching.cancel()
            for task in ahead.values(): task.cancel()
            for link in (lists, media, hints): link.close()

    def check(self, track, playlist, last, query, now):
        ledger = self.ledger
        if last:
            if playlist.first < last.first:
                # After a kill the media sequence may go back in the worker's own playlists; the reference player shows whether it did.
                if ledger.isStrict: ledger.fault(f"{track}: media sequence {last.first}, then {playlist.first}")
                else: ledger.back += 1
            if playlist.next <= last.next: ledger.fault(f"{track}?{query}: asked for {last.next}, got up to {playlist.next}")
        # Players that received the same text share one playlist object.
        if playlist not in ledger.checked:
            ledger.checked.add(playlist)
            for (msn, part), name, _ in playlist.items:
                key, name = (track, msn, part), name.partition("?")[0]
                if (before := ledger.names.setdefault(key, name)) != name:
                    # The next worker replaces the last part if slate cannot begin after it.
                    if part is not None and not ledger.isStrict: ledger.replaced += 1
                    else: ledger.fault(f"{key}: {before}, then {name}")
                    ledger.names[key] = name
        if last:
            newest = (track, *playlist.next)
            if self.isReference: ledger.first.setdefault(newest, now)
            elif newest in ledger.first and ledger.isStrict and Pulse.longest(now - 2) < 0.2: ledger.lag.append(now - ledger.first[newest])

    async def hinted(self, link, name, end): return await self.fetch(link, name.partition("?")[0], mayMiss=True, end=end)

    async def download(self, link, work, ahead, newest, isClock):
        while True:
            at, name, end = await work.get()
            if end and end < max(newest[0], time.time()) - 6:
                # A real player that is this late would jump to the live edge.
                self.ledger.late += 1
                if name in ahead: ahead.pop(name).cancel()
                continue
            plain = name.partition("?")[0]
            if self.query and not name.endswith("?" + self.query): self.ledger.fault(f"{name} lacks the query")
            body = await ahead[name] if name in ahead else None
            if body is None: body = await self.fetch(link, plain, end=end)
            if body is None: continue
            if self.ledger.bytes.setdefault(plain, body) != body: self.ledger.fault(f"{plain}: other bytes than before")
            ahead.pop(name, None)
            if isClock and end: self.play(end)

    def play(self, end):
        """Moves the viewer's position after a part that ends at `end` has arrived. `head` is the current time minus that position."""
        now = time.time()
        if self.edge is not None:
            wait = now - self.head - self.edge
            if wait > 0.005:
                self.stalls.append((now, wait))
                self.head += wait
        self.edge = max(self.edge or end, end)

    def seekLive(self, target):
        """Puts the viewer at PART-HOLD-BACK behind the media that has arrived, which is the worst position at a restart."""
        if self.edge: self.head = time.time() - self.edge + 3 * target
