import Testing

/// H: handshake. C: chunks. A: commands and AMF. X: sessions and abuse. Timestamps (S) and payloads (P), 33 more, are in
/// ``FaultTableTests``.
@Suite("The other 54 cases of an RTMP server: each has its tests, or a reason why there is none")
struct RTMPCaseTests {
    enum Proof {
        /// Titles of tests of this project.
        case tests([String])
        case none(String)
    }

    private static let calls = "every call with a transaction id gets its answer, calls without get none"
    private static let splits = "a capture gives the same events however TCP cuts it"
    private static let schedule = "any legal schedule comes back message by message, however it is cut"
    private static let abuse =
        "publishers lose no frame, one that comes during it is on air in 2 s, and memory stays"

    static let rows: [(row: String, what: String, proof: Proof)] = [
        (
            "H01", "C0 and C1 in one write",
            .tests(["S0, S1 and S2 leave in one write as soon as C1 is there, and nothing follows until connect"])
        ),
        (
            "H02", "C1 byte by byte",
            .tests(["a handshake that drips in has five seconds in all, not five after each byte"])
        ),
        ("H03", "another protocol", .tests(["another protocol on the port is named and refused at its first byte"])),
        ("H04", "digests in C1", .tests(["whatever C1 and C2 hold, S2 repeats C1 and `connect` is answered"])),
        (
            "H05", "garbage in C2",
            .tests(["whatever C1 and C2 hold, S2 repeats C1 and `connect` is answered", Self.splits])
        ),
        (
            "H06", "C2 and connect in one segment",
            .tests(["C0, C1, C2 and connect may come in one piece", Self.splits])
        ),
        ("H07", "all at once", .tests(["C0, C1, C2 and connect may come in one piece"])),
        (
            "H08", "one write a burst",
            .tests([
                "S0, S1 and S2 leave in one write as soon as C1 is there, and nothing follows until connect",
                "connect is answered with window, bandwidth, chunk size and success, in one write",
            ])
        ),
        (
            "H09", "HaishinKit",
            .tests(["HaishinKit's rules: more than S0 and S1 before C2 is sent, then exactly S2 and not a byte more"])
        ),
        (
            "C01", "chunk stream ids",
            .tests(["every form of the chunk stream id names the same stream", Self.schedule])
        ),
        ("C02", "65 chunk streams", .tests(["65 chunk streams are too many"])),
        ("C03", "§5.3.2.1", .tests(["headers of type 0, 1, 2, 3 count up as in the example of §5.3.2.1"])),
        ("C04", "§5.3.2.2", .tests(["a message of 307 bytes in chunks of 128 is one message: §5.3.2.2"])),
        ("C05", "interleaving", .tests(["audio and video interleave in the middle of messages", Self.schedule])),
        (
            "C06", "larger chunks in mid-message",
            .tests(["a new chunk size counts from the next chunk on, for messages begun before too"])
        ),
        (
            "C07", "smaller chunks with bytes behind",
            .tests(["a new chunk size counts from the next chunk on, for messages begun before too", Self.schedule])
        ),
        (
            "C08", "chunk sizes",
            .tests(["chunk sizes that are refused", "the largest chunk size works as the largest message"])
        ),
        ("C09", "short Set Chunk Size", .tests(["chunk sizes that are refused"])),
        (
            "C10", "fresh chunk streams",
            .tests(["a fresh chunk stream begins with type 0, or with type 1 as librtmp does"])
        ),
        ("C11", "headers in mid-message", .tests(["in the middle of a message only a header that fits continues it"])),
        ("C12", "Abort", .tests(["Abort drops the partial message and keeps the header state"])),
        ("C13", "length 0", .tests(["messages of length 0 are messages"])),
        (
            "C14", "a length that does not come",
            .tests(["lengths over the bound of the type are refused before a byte is kept", Self.abuse])
        ),
        (
            "C15", "partial messages",
            .tests(["nine messages at once are too many", "bytes of messages that never end have a bound"])
        ),
        (
            "C16", "control elsewhere",
            .tests(["control messages elsewhere than on chunk stream 2 are honoured, and noted"])
        ),
        (
            "C17", "unknown types",
            .tests([
                "messages of no defined type are ignored, and too many are a stream out of step",
                "a type beyond the last one is a stream out of step",
            ])
        ),
        (
            "C18", "aggregates",
            .tests([
                "an aggregate gives its messages with times from the aggregate's on",
                "an aggregate that lies about lengths gives what fits",
                "an aggregate of half a million empty messages gives some thousands, and a few of them end the connection",
            ])
        ),
        ("C19", "any split", .tests([Self.splits, "those of the project"])),
        (
            "A01", "orders of commands",
            .tests(["each client asks to publish with its key, sends media, and unpublishes once"])
        ),
        (
            "A02", "forms of connect",
            .tests([
                "a connect object in any of its forms is read",
                "a connect object without its end is read: Envivio's has none",
            ])
        ),
        ("A03", "transaction of connect", .tests(["a connect object in any of its forms is read"])),
        (
            "A04", "forms of publish",
            .tests([
                "publish comes with and without createStream, type and transaction",
                "publish without a usable name is denied",
            ])
        ),
        (
            "A05", "publish twice, streams without end",
            .tests([
                "a second publish on the same connection is BadName, and the first goes on",
                "streams that are created without end close the connection",
            ])
        ),
        ("A06", "calls", .tests([Self.calls])),
        ("A07", "ways to stop", .tests(["each way to stop unpublishes once"])),
        ("A08", "another key", .tests(["after unpublish the same connection may publish another key"])),
        (
            "A09", "AMF that lies",
            .tests([
                "faults are named", "depth is bounded", "values and properties are counted", "random bytes never trap",
            ])
        ),
        ("A10", "AMF3", .tests(["an AMF3 command with its format byte is read; AMF3 inside is not needed"])),
        (
            "A11", "metadata",
            .tests(["metadata comes with and without its wrapper, once unless it changes, and never too large"])
        ),
        (
            "A12", "URLs",
            .tests([
                "one key comes of every way to cut the URL", "names that could collapse or forge are refused",
                "names have a length",
            ])
        ),
        (
            "A13", "impatient media",
            .tests(["what comes before the decision waits for it, in order, up to a megabyte"])
        ),
        (
            "A14", "message streams",
            .tests(["media is taken whatever message stream it names, while one publication is active"])
        ),
        (
            "X01", "takeover",
            .tests([
                "a newer encoder takes the key over: it starts, the older one is told and closed",
                "two encoders that fight: the third takeover within ten seconds is BadName",
            ])
        ),
        (
            "X02", "half-open",
            .tests(["a newer encoder takes the key over: it starts, the older one is told and closed"])
        ),
        (
            "X03", "the webhook",
            .tests([
                "without an answer in time, the setting decides",
                "a refusal by status is one though its page never ends, also where a webhook's failure lets in",
                "a question is withdrawn when whoever it is about has gone",
                "who leaves before the answer takes nothing, and the session's own deadline holds",
            ])
        ),
        (
            "X04", "signed keys",
            .tests([
                "whatever is signed cannot be changed", "by setting, a signed key is good once",
                "HMAC-SHA256 over room, name, expiry and nonce, padded or not; any of the secrets",
            ])
        ),
        (
            "X05", "idle connections",
            .tests(["500 idle connections from one address: the last eight are kept, publishers do not notice"])
        ),
        (
            "X06", "windows and pings",
            .tests([
                "acknowledgements follow half the window, at most one a read, whatever window is asked for",
                "floods of commands, of tiny messages and of setup bytes end the connection",
            ])
        ),
        (
            "X07", "faster than real time",
            .tests([
                "a full reader stops its own publisher and no other; all arrives when there is room again",
                "a file that is pushed is read in real time, and counts as evenly come",
                "a file that ffmpeg pushes without -re is shown in real time, and another publisher loses nothing",
            ])
        ),
        (
            "X08", "sudden ends",
            .tests([
                "a connection that goes away ends its source at once",
                "a takeover says why and closes; a lost connection unpublishes once",
            ])
        ),
        (
            "X09", "TLS",
            .tests([
                "a publisher over TLS is as one without; a refused one is told why; plain RTMP on the TLS port is not",
                "TLS 1.1 is refused",
                "whichever server a client asks for by name, it is let in: encoders have an address of the room, or none",
                "a handshake within the connection is refused",
            ])
        ),
        (
            "X10", "one is abused, others publish",
            .tests([Self.abuse, "captures with bytes changed, dropped and doubled"])
        ),
        (
            "X11", "reconnect requests",
            .tests(["at a hand-over whoever can is asked to connect anew, and nobody else"])
        ),
        (
            "X12", "ten publishers",
            // What it costs to take their chunks apart is counted by the benchmark dechunk-128.
            .tests([
                "publishers at 2 Mbit/s from twenty addresses are all taken in, and cost the network's threads little"
            ])
        ),
    ]

    @Test("no row is missing, and every test that is named exists under its title")
    func complete() {
        func numbers(_ letter: String, _ range: ClosedRange<Int>) -> [String] {
            range.map { letter + ($0 < 10 ? "0" : "") + "\($0)" }
        }
        #expect(
            Self.rows.map(\.row) == numbers("H", 1...9) + numbers("C", 1...19) + numbers("A", 1...14)
                + numbers("X", 1...12)
        )
        let text = SourceTree.swiftFiles(in: "Tests").filter { !$0.path.hasSuffix("/RTMPCaseTests.swift") }
            .flatMap(\.lines).joined(separator: "\n")
        for (row, what, proof) in Self.rows {
            switch proof {
            case .tests(let titles):
                #expect(!titles.isEmpty)
                for title in titles {
                    let isThere = text.contains("\"\(title)\"")
                    #expect(isThere, "\(row), \(what): no test \(title)")
                }
            case .none(let reason): #expect(reason.count > 20, "\(row), \(what)")
            }
        }
    }
}
