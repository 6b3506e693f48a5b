import Testing

/// Faults of publishers and client products, each with the tests that cover it.
///
/// S: timestamps. P: payloads. ReplayKit and NetEase: requirements of those products by number. Rows that do not concern
/// media give a reason why they have no test here.
@Suite("Fault table: each fault has tests or a reason for having none")
struct FaultTableTests {
    enum Proof {
        /// Tests as `File.function`.
        case tests([String])
        case reason(String)
    }

    static let rows: [(row: String, proof: Proof)] = [
        // Timestamps.
        ("S01", .tests(["RTMPChunkTimestampTests.extendedInTypeThree"])),
        ("S02", .tests(["RTMPChunkTimestampTests.extendedInTypeThree"])),
        ("S03", .tests(["RTMPChunkTimestampTests.extendedDelta", "TimestampFaultTests.extendedStart"])),
        ("S04", .tests(["RTMPChunkTimestampTests.extendedDelta", "TimestampFaultTests.negativeDelta"])),
        ("S05", .tests(["RTMPChunkTimestampTests.typeThreeBehindTypeZero"])),
        ("S06", .tests(["RTMPChunkTimestampTests.wrap", "TimestampFaultTests.wraps", "FLVDemuxerTests.unwrap"])),
        ("S07", .tests(["RTMPChunkTimestampTests.sharedChunkStream", "RTMPCaptureTests.sharedChunkStreamTimes"])),
        ("S08", .tests(["SourceTimelineFaultTests.absoluteStart"])),
        ("S09", .tests(["SourceTimelineFaultTests.jumpOfBoth", "SourceTimelineFaultTests.silence"])),
        ("S10", .tests(["SourceTimelineFaultTests.reset"])),
        ("S11", .tests(["SourceTimelineFaultTests.stuck"])),
        ("S12", .tests(["SourceTimelineFaultTests.zeroedApart"])),
        (
            "S13",
            .tests([
                "RTMPChunkTimestampTests.wrap", "TimestampFaultTests.wraps", "SourceTimelineFaultTests.longTimes",
            ])
        ),
        // Payloads.
        ("P01", .tests(["FLVDemuxerTests.video"])),
        ("P02", .tests(["FLVDemuxerTests.configurations", "FormatChangeTests.rotation"])),
        ("P03", .tests(["FLVDemuxerTests.truncatedRecords", "FLVDemuxerTests.uselessRecords"])),
        (
            "P04",
            .tests([
                "FLVDemuxerTests.sanitized", "FLVDemuxerTests.noFrames", "FLVDemuxerTests.aheadOfPictures",
                "FLVDemuxerTests.aheadOfAnotherHeader", "FLVDemuxerTests.muchAheadOfPictures",
                "PayloadFaultTests.forms", "PayloadFaultTests.onlyEmptyUnits", "PayloadFaultTests.apart",
            ])
        ),
        ("P05", .tests(["FLVDemuxerTests.sanitized", "PayloadFaultTests.forms"])),
        ("P06", .tests(["FLVDemuxerTests.inBandParameterSets", "PayloadFaultTests.inBandOnly"])),
        ("P07", .tests(["FLVDemuxerTests.commandsInMidStream"])),
        (
            "P08",
            .tests(["FLVDemuxerTests.audioChange", "FormatChangeTests.rotation", "AudioClickTests.changes"])
        ),
        ("P09", .tests(["FLVDemuxerTests.aac", "FLVDemuxerTests.manyChannels", "FLVDemuxerTests.adtsOnly"])),
        ("P10", .tests(["FLVDemuxerTests.mp3", "PlainAudioTests.parameters", "AudioCodecTests.everyKind"])),
        (
            "P11",
            .tests([
                "EnhancedFaultTests.hevcEitherWay", "EnhancedFaultTests.aheadOfPictures",
                "EnhancedFaultTests.aheadOfAnotherRecord",
            ])
        ),
        (
            "P12",
            .tests([
                "EnhancedFaultTests.codedFrames", "EnhancedFaultTests.wholePictures", "EnhancedFaultTests.audio",
                "EnhancedFaultTests.flacRecords", "EnhancedFaultTests.flacFaults",
                "EnhancedFaultTests.audioBeforeRecord",
            ])
        ),
        (
            "P13",
            .tests([
                "EnhancedFaultTests.modifiers", "EnhancedFaultTests.uselessOffset", "EnhancedFaultTests.cutModifiers",
            ])
        ),
        (
            "P14",
            .tests([
                "EnhancedFaultTests.severalTracks", "EnhancedFaultTests.damagedTracks",
                "EnhancedFaultTests.extraTracks",
            ])
        ),
        (
            "P15",
            .tests([
                "FLVDemuxerTests.unsupported", "IngestServerTests.unsupported", "IngestServerTests.partlySupported",
            ])
        ),
        (
            "P16",
            .tests([
                "SourceTimelineFaultTests.lateMicrophone", "SourceTimelineFaultTests.oneTrackStops",
                "RoomTrackTests.everything",
            ])
        ),
        ("P17", .tests(["SourceTimelineFaultTests.stillScreen", "SourceStateMachineTests.stillScreen"])),
        ("P18", .tests(["FormatChangeTests.tooLarge"])), ("P19", .tests(["FormatChangeTests.unreadableParameterSet"])),
        ("P20", .tests(["SourceTimelineFaultTests.interleavedApart"])),
        // A phone's screen.
        ("ReplayKit 1", .tests(["SourceTimelineFaultTests.pauseWithoutTime", "SourceStateMachineTests.stall"])),
        ("ReplayKit 2", .tests(["RoomLifecycleTests.unpublish"])),
        ("ReplayKit 3", .tests(["SourceTimelineFaultTests.stillScreen", "SourceStateMachineTests.stillScreen"])),
        (
            "ReplayKit 4",
            .tests(["FormatChangeTests.rotation", "FormatChangeTests.turned", "RoomFormatTests.rotation"])
        ),
        ("ReplayKit 5", .tests(["SourceTimelineFaultTests.lateMicrophone", "RoomTrackTests.everything"])),
        ("ReplayKit 6", .tests(["RoomTrackTests.everything"])), ("ReplayKit 7", .tests(["LossTests.cycles"])),
        ("ReplayKit 8", .tests(["FormatChangeTests.tooLarge", "RoomFormatTests.shapes"])),
        ("ReplayKit 9", .reason("clips are cut from stored segments, which is not a matter of ingest")),
        ("ReplayKit 10", .reason("no media: the tests of the control API cover the state of a source")),
        // A PK of two rooms.
        (
            "NetEase 1",
            .reason("the room listens only once its pipeline is complete, so no publisher can connect before")
        ),
        ("NetEase 2", .tests(["RoomSceneTests.documents"])), ("NetEase 3", .tests(["RelayTests.crossRoomPK"])),
        ("NetEase 4", .tests(["RoomPKTests.phases"])),
        ("NetEase 5", .tests(["RoomPKTests.phases", "RoomDateRangeTests.inStep"])),
        ("NetEase 6", .tests(["LossTests.cycles", "RoomPKTests.grace"])),
        ("NetEase 7", .tests(["RoomSceneTests.documents"])),
        ("NetEase 8", .tests(["MixerAudioTests.muteIsSampleAccurate"])),
        ("NetEase 9", .tests(["RoomOutputTests.canvasPerScene"])),
        (
            "NetEase 10",
            .reason("no media: the tests of the control API cover the presence of sources")
        ),
        ("NetEase 11", .tests(["RoomSceneTests.documents"])),
        ("NetEase 12", .tests(["RoomSceneTests.headCount"])),
    ]

    @Test("the fault table has the rows S01 to S13, P01 to P20, ReplayKit 1 to 10 and NetEase 1 to 12")
    func complete() {
        func numbers(_ letter: String, _ range: ClosedRange<Int>) -> [String] {
            range.map { letter + ($0 < 10 ? "0" : "") + "\($0)" }
        }
        let wanted =
            numbers("S", 1...13) + numbers("P", 1...20) + (1...10).map { "ReplayKit \($0)" }
            + (1...12).map { "NetEase \($0)" }
        #expect(Self.rows.map(\.row) == wanted)
    }

    @Test("every test that the fault table names exists")
    func found() {
        for (row, proof) in Self.rows {
            switch proof {
            case .reason(let reason): #expect(reason.count > 20, "\(row)")
            case .tests(let tests):
                #expect(!tests.isEmpty, "\(row)")
                for test in tests {
                    #expect(TestIndex.names.contains(test), "\(row): there is no test \(test)")
                }
            }
        }
    }
}
