import Testing

@Suite("The 64 cases of a live HLS writer: each has tests or a reason for having none")
struct LiveCaseTests {
    enum Proof {
        /// Tests as `File.function`.
        case tests([String])
        case none(String)
    }

    private static let playerPK =
        "PlayerTests.pk"
    private static let lint =
        "LintTests.liveRoom"
    private static let timeline =
        "RestartTests.killed"

    static let cases: [(number: Int, what: String, proof: Proof)] = [
        (
            1, "the first playlist",
            .tests([
                "MediaPlaylistTests.firstPublish",
                "EdgeTests.together",
            ])
        ),
        (
            2, "a segment above the target duration",
            .tests(["PlaylistWindowTests.lengthAgainstTarget"])
        ),
        (3, "sums of EXTINF", .tests(["MediaPlaylistTests.sumsHold"])),
        (4, "the window slides", .tests(["PlaylistWindowTests.slides"])),
        (5, "a window of three target durations", .tests(["PlaylistWindowTests.floorHolds"])),
        (
            6, "a segment with a discontinuity leaves",
            .tests([
                "PlaylistWindowTests.discontinuitySequence"
            ])
        ),
        (
            7, "two discontinuities",
            .tests([
                "PlaylistWindowTests.discontinuitySequence"
            ])
        ),
        (
            8, "declared numbers never change",
            .tests([
                "PlaylistWindowTests.history",
                "LowLatencyPlaylistTests.numbers",
            ])
        ),
        (9, "the version", .tests(["MediaPlaylistTests.version"])),
        (
            10, "a number keeps its URI",
            .tests(["PlaylistWindowTests.history"])
        ),
        (
            11, "CODECS",
            .tests([
                "CodecFactsTests.readsParameterSet",
                "MultivariantPlaylistTests.singleKinds",
            ])
        ),
        (
            12, "BANDWIDTH",
            .tests([
                "BandwidthTests.meterAgreesWithBruteForce", "BandwidthTests.declared",
                "PublishingTests.bandwidthAlarm",
            ])
        ),
        (
            13, "the multivariant playlist",
            .tests([
                "MultivariantPlaylistTests.ladder",
                "VariantTests.groups",
            ])
        ),
        (
            14, "user-chosen names",
            .tests([
                "MultivariantPlaylistTests.hostileNames",
                "DateRangeTests.hostileText",
            ])
        ),
        (
            15, "the program date",
            .tests([
                "PublishingTests.dates",
                "ContinuationTests.clockSetBack",
            ])
        ),
        (
            16, "date ranges",
            .tests([
                "DateRangeTests.openAndClosed",
                "DateRangeTests.leaving",
                "ProgramMarkTests.successor",
            ])
        ),
        (
            17, "the end",
            .tests(["LowLatencyPlaylistTests.ended", "PlaylistPositionTests.ended"])
        ),
        (18, "an EVENT playlist", .tests(["PlaylistWindowTests.eventOnlyAppends"])),
        (
            19, "keys",
            .tests([
                "EncryptionTests.announced",
                "EncryptionTests.kept",
            ])
        ),
        (
            20, "I-frame playlists",
            .tests([
                "IFrameTests.listed",
                "IFramePlaylistTests.text",
            ])
        ),
        (
            21, "the initialization segment",
            .tests([
                "InitializationSegmentTests.deterministic",
                "RoomOutputTests.initialization",
            ])
        ),
        (
            22, "a part's boxes",
            .tests([
                "InitializationSegmentTests.fragment", "TrackSegmenterTests.fragments",
                "LibavformatTests.frames",
            ])
        ),
        (
            23, "a segment is its parts",
            .tests(["EdgeTests.bytes"])
        ),
        (
            24, "reordered frames",
            .tests(["TrackSegmenterTests.reordering"])
        ),
        (25, "times after 20 years", .tests(["TrackSegmenterTests.longAfterOrigin"])),
        (
            26, "missing frames",
            .tests([
                "TrackSegmenterTests.holes",
                "TrackSegmenterTests.lostPicture",
            ])
        ),
        (
            27, "emsg",
            .tests([
                "CueTests.everywhere",
                "MetadataTests.inStep",
            ])
        ),
        (
            28, "AES-128",
            .tests([
                "EncryptionTests.opens"
            ])
        ),
        (29, "a part without its segment", .tests(["PlaylistPositionTests.partAlone"])),
        (30, "a request too far ahead", .tests(["PlaylistPositionTests.segmentsAhead"])),
        (31, "a request for the next segment", .tests(["LiveSocketTests.held"])),
        (
            32, "a part past the segment's last",
            .tests(["PlaylistPositionTests.parts"])
        ),
        (33, "a request before the window", .tests(["LiveContentTests.immediate"])),
        (
            34, "a request that is never satisfied",
            .tests(["LiveContentTests.tooLate"])
        ),
        (35, "delta updates", .tests(["LowLatencyPlaylistTests.deltasMerge"])),
        (36, "a delta with nothing to skip", .tests(["LowLatencyPlaylistTests.nothingToSkip"])),
        (
            37, "hinted parts",
            .tests([
                "LiveSocketTests.hint", "LiveContentTests.staleHint",
            ])
        ),
        (
            38, "2,000 blocked clients",
            .tests([
                "LiveSocketTests.twoThousand",
                "ThousandPlayersTests.wake",
            ])
        ),
        (39, "rendition reports", .tests(["LiveContentTests.reports"])),
        (
            40, "HTTP",
            .tests([
                "QueryPropagationTests.compressed",
                "OriginResponderTests.fields", "OriginServerTests.head",
                "QueryPropagationTests.multivariantPlaylist",
            ])
        ),
        (
            41, "a lagging rendition",
            .tests(["EdgeTests.lagging", lint])
        ),
        (
            42, "part durations",
            .tests([
                "EdgeTests.partRatio",
                "TrackSegmenterTests.audioOffGrid",
            ])
        ),
        (
            43, "a minute in browsers",
            .tests([playerPK, "PlayerTests.latency"])
        ),
        (
            44, "every level after every other",
            .tests([
                "LadderPlayerTests.levels"
            ])
        ),
        (
            45, "flash and beep",
            .tests([
                "LipSyncTests.steady",
                "LipSyncTests.everyPhase",
            ])
        ),
        (
            46, "consecutive PKs",
            .tests([
                playerPK,
                "RoomOutputTests.canvasPerScene",
            ])
        ),
        (
            47, "a source changes its size",
            .tests(["FormatChangeTests.rotation"])
        ),
        (
            48, "a source leaves",
            .tests(["RoomLifecycleTests.unpublish"]
            )
        ),
        (
            49, "a worker killed and restarted",
            .tests([
                timeline, "SlateTests.seamless",
            ])
        ),
        (
            50, "the state file is lost",
            .tests([
                "ContinuationTests.foreignDirectory",
                "FailureTests.stateFirst",
            ])
        ),
        (
            51, "everything is lost",
            .none("an empty directory is a new room's: no file is left with the numbers that were used")
        ),
        (
            52, "killed between segment and playlist",
            .tests([
                "ContinuationTests.orphans",
                "KillTests.everyStep",
            ])
        ),
        (
            53, "the disk is full",
            .tests([
                "FailureTests.fullStore"
            ])
        ),
        (
            54, "uploads that fail",
            .tests([
                "UploadQueueTests.away",
                "UploadTests.origin",
            ])
        ),
        (
            55, "a store with high latency",
            .tests([
                "UploadQueueTests.distant"
            ])
        ),
        (
            56, "a reader in a tight loop",
            .tests(["FailureTests.threads"])
        ),
        (
            57, "retention",
            .tests([
                "PublishingTests.retention",
                "EdgeTests.retention",
            ])
        ),
        (
            58, "24 hours",
            .tests(["DayTests.day"])
        ),
        (
            59, "timestamps and payloads of publishers",
            .tests([
                "RealEncoderTests.ffmpeg",
                "SourceTimelineFaultTests.longTimes",
                "PublishingTests.singleTrack",
            ])
        ),
        (
            60, "another codec",
            .tests([
                "AudioFormatTests.rateChange",
                "FormatChangeTests.rotation",
            ])
        ),
        (61, "no frame is lost", .tests([timeline, "LadderTests.offline"])),
        (62, "errors of hls.js", .tests([playerPK])),
        (
            63, "two workers, one directory",
            .tests([
                "RoomLifecycleTests.superseded",
                "RestartTests.stoppedAndContinued",
            ])
        ),
        (
            64, "an ended room",
            .tests([
                "LifecycleTests.endedDirectory",
                "ContinuationTests.ended",
            ])
        ),
    ]

    @Test("the table of HLS cases has the numbers 1 to 64 once each, and every test that it names exists")
    func complete() {
        #expect(Self.cases.map(\.number) == Array(1...64))
        for (number, what, proof) in Self.cases {
            switch proof {
            case .tests(let tests):
                #expect(!tests.isEmpty)
                for test in tests {
                    #expect(TestIndex.names.contains(test), "case \(number), \(what): there is no test \(test)")
                }
            case .none(let reason): #expect(reason.count > 20, "case \(number), \(what)")
            }
        }
    }
}
