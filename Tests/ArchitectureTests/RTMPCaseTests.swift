import Testing

/// H: handshake. C: chunks. A: commands and AMF. X: sessions and abuse. Timestamps (S) and payloads (P), 33 more, are in
/// ``FaultTableTests``.
@Suite("54 cases of an RTMP server (handshake, chunks, commands, abuse): each has tests or a reason for none")
struct RTMPCaseTests {
    enum Proof {
        /// Tests as `File.function`.
        case tests([String])
        case none(String)
    }

    private static let calls = "RTMPServerSessionTests.answersCalls"
    private static let splits = "RTMPCaptureTests.splitInvariance"
    private static let schedule = "RTMPChunkModelTests.anySchedule"
    private static let abuse =
        "AbuseTests.abuse"

    static let rows: [(row: String, what: String, proof: Proof)] = [
        (
            "H01", "C0 and C1 in one write",
            .tests(["RTMPHandshakeTests.oneWrite"])
        ),
        (
            "H02", "C1 byte by byte",
            .tests(["RTMPHandshakeTests.absoluteDeadline"])
        ),
        ("H03", "another protocol", .tests(["RTMPHandshakeTests.wrongVersion"])),
        ("H04", "digests in C1", .tests(["HandshakeCaseTests.anyRandom"])),
        (
            "H05", "garbage in C2",
            .tests(["HandshakeCaseTests.anyRandom", Self.splits])
        ),
        (
            "H06", "C2 and connect in one segment",
            .tests(["RTMPHandshakeTests.glued", Self.splits])
        ),
        ("H07", "all at once", .tests(["RTMPHandshakeTests.glued"])),
        (
            "H08", "one write for all replies",
            .tests([
                "RTMPHandshakeTests.oneWrite",
                "RTMPServerSessionTests.connectAnswer",
            ])
        ),
        (
            "H09", "HaishinKit",
            .tests(["HandshakeCaseTests.haishinKit"])
        ),
        (
            "C01", "chunk stream ids",
            .tests(["RTMPChunkReaderTests.chunkStreamIDs", Self.schedule])
        ),
        ("C02", "65 chunk streams", .tests(["RTMPChunkReaderTests.chunkStreamLimit"])),
        ("C03", "§5.3.2.1", .tests(["RTMPChunkReaderTests.exampleOne"])),
        ("C04", "§5.3.2.2", .tests(["RTMPChunkReaderTests.exampleTwo"])),
        ("C05", "interleaving", .tests(["RTMPChunkReaderTests.interleaved", Self.schedule])),
        (
            "C06", "larger chunks in mid-message",
            .tests(["RTMPChunkReaderTests.chunkSizeMidMessage"])
        ),
        (
            "C07", "smaller chunks with more bytes pending",
            .tests(["RTMPChunkReaderTests.chunkSizeMidMessage", Self.schedule])
        ),
        (
            "C08", "chunk sizes",
            .tests(["RTMPChunkReaderTests.refusedChunkSize", "RTMPChunkReaderTests.hugeChunkSize"])
        ),
        ("C09", "short Set Chunk Size", .tests(["RTMPChunkReaderTests.refusedChunkSize"])),
        (
            "C10", "fresh chunk streams",
            .tests(["RTMPChunkReaderTests.freshChunkStream"])
        ),
        ("C11", "headers in mid-message", .tests(["RTMPChunkReaderTests.headerInsideMessage"])),
        ("C12", "Abort", .tests(["RTMPChunkReaderTests.abort"])),
        ("C13", "length 0", .tests(["RTMPChunkReaderTests.empty"])),
        (
            "C14", "an announced length that never arrives",
            .tests(["RTMPChunkReaderTests.lengthLimits", Self.abuse])
        ),
        (
            "C15", "partial messages",
            .tests(["RTMPChunkReaderTests.partialLimit", "RTMPChunkReaderTests.partialBytesLimit"])
        ),
        (
            "C16", "control messages on other chunk streams",
            .tests(["RTMPChunkReaderTests.controlOffStream"])
        ),
        (
            "C17", "unknown types",
            .tests([
                "RTMPServerLimitTests.unknownTypes",
                "RTMPChunkReaderTests.impossibleType",
            ])
        ),
        (
            "C18", "aggregates",
            .tests([
                "RTMPServerMediaTests.aggregate",
                "RTMPServerMediaTests.brokenAggregate",
                "RTMPServerMediaTests.crowdedAggregate",
            ])
        ),
        ("C19", "any split", .tests([Self.splits, "CaptureSplitTests.fixtures"])),
        (
            "A01", "command order of clients",
            .tests(["RTMPCaptureTests.clientOrders"])
        ),
        (
            "A02", "forms of connect",
            .tests([
                "RTMPServerSessionTests.connectForms",
                "RTMPServerSessionTests.unendedConnect",
            ])
        ),
        ("A03", "transaction of connect", .tests(["RTMPServerSessionTests.connectForms"])),
        (
            "A04", "forms of publish",
            .tests([
                "RTMPServerSessionTests.publishForms",
                "RTMPServerSessionTests.unusableName",
            ])
        ),
        (
            "A05", "publish twice, createStream without end",
            .tests([
                "RTMPServerSessionTests.publishTwice",
                "RTMPServerSessionTests.tooManyStreams",
            ])
        ),
        ("A06", "calls", .tests([Self.calls])),
        ("A07", "ways to stop", .tests(["RTMPServerSessionTests.unpublish"])),
        ("A08", "publish another key", .tests(["RTMPServerSessionTests.republish"])),
        (
            "A09", "malformed AMF",
            .tests([
                "AMF0Tests.faults", "AMF0Tests.depth", "AMF0Tests.budgets", "AMF0Tests.randomBytes",
            ])
        ),
        ("A10", "AMF3", .tests(["RTMPServerSessionTests.amf3"])),
        (
            "A11", "metadata",
            .tests(["RTMPServerMediaTests.metadata"])
        ),
        (
            "A12", "URLs",
            .tests([
                "StreamAddressTests.keys", "StreamAddressTests.refusedScalars",
                "StreamAddressTests.length",
            ])
        ),
        (
            "A13", "media before the decision",
            .tests(["RTMPServerMediaTests.beforeDecision"])
        ),
        (
            "A14", "message stream ids",
            .tests(["RTMPServerMediaTests.mediaStreamID"])
        ),
        (
            "X01", "takeover",
            .tests([
                "IngestServerTests.takeover",
                "IngestServerTests.flapping",
            ])
        ),
        (
            "X02", "half-open",
            .tests(["IngestServerTests.takeover"])
        ),
        (
            "X03", "the webhook",
            .tests([
                "HookTests.noAnswer",
                "HookTests.endlessRefusal",
                "HookTests.withdrawn",
                "HookTests.leaves",
            ])
        ),
        (
            "X04", "signed keys",
            .tests([
                "SignedKeyCheckTests.changed", "AdmissionTests.singleUse",
                "SignedKeyCheckTests.hmac",
            ])
        ),
        (
            "X05", "idle connections",
            .tests(["DoorTests.idleConnections"])
        ),
        (
            "X06", "windows and pings",
            .tests([
                "RTMPServerLimitTests.acknowledgements",
                "RTMPServerLimitTests.floods",
            ])
        ),
        (
            "X07", "faster than real time",
            .tests([
                "IngestServerTests.backPressure",
                "PublisherPaceTests.file",
                "RacingTests.file",
            ])
        ),
        (
            "X08", "lost connections",
            .tests([
                "IngestServerTests.lost",
                "RTMPServerSessionTests.ends",
            ])
        ),
        (
            "X09", "TLS",
            .tests([
                "DoorTests.secure",
                "DoorTests.oldTLS",
                "DoorTests.otherName",
                "DoorTests.renegotiation",
            ])
        ),
        (
            "X10", "abuse beside publishers",
            .tests([Self.abuse, "RTMPHostileInputTests.mutations"])
        ),
        (
            "X11", "reconnect requests",
            .tests(["RTMPServerSessionTests.handOver"])
        ),
        (
            "X12", "ten publishers",
            // The benchmark dechunk-128 measures the cost of reading their chunks.
            .tests([
                "PublishersTests.hundred"
            ])
        ),
    ]

    @Test(
        "the table of RTMP cases has the rows H01 to H09, C01 to C19, A01 to A14, X01 to X12, and every test that it names exists"
    )
    func complete() {
        func numbers(_ letter: String, _ range: ClosedRange<Int>) -> [String] {
            range.map { letter + ($0 < 10 ? "0" : "") + "\($0)" }
        }
        #expect(
            Self.rows.map(\.row) == numbers("H", 1...9) + numbers("C", 1...19) + numbers("A", 1...14)
                + numbers("X", 1...12)
        )
        for (row, what, proof) in Self.rows {
            switch proof {
            case .tests(let tests):
                #expect(!tests.isEmpty)
                for test in tests {
                    #expect(TestIndex.names.contains(test), "\(row), \(what): there is no test \(test)")
                }
            case .none(let reason): #expect(reason.count > 20, "\(row), \(what)")
            }
        }
    }
}
