import Foundation
import Testing

/// What publishers and client products do to a room, row by row, and which test stands for the row.
///
/// S: timestamps. P: payloads. ReplayKit and NetEase: what those products do, by the number of the wish; of each the rows
/// that concern media, and for the others why they have no test of their own. A test names its rows in its title, so that
/// `grep -rn S03 Tests` finds it.
@Suite("Every fault has a test, or a reason")
struct FaultTableTests {
    enum Proof {
        /// Files, of which each holds a test with the row in its title.
        case tests([String])
        case reason(String)
    }

    private static let rtmp = "Tests/RTMPTests/", program = "Tests/ProgramTests/", room = "Tests/RoomTests/"
    private static let ingest = "Tests/IngestTests/", real = "Tests/EndToEndTests/"

    static let rows: [(row: String, proof: Proof)] = [
        // Timestamps.
        ("S01", .tests([rtmp + "RTMPChunkTimestampTests"])), ("S02", .tests([rtmp + "RTMPChunkTimestampTests"])),
        ("S03", .tests([rtmp + "RTMPChunkTimestampTests", rtmp + "TimestampFaultTests"])),
        ("S04", .tests([rtmp + "RTMPChunkTimestampTests", rtmp + "TimestampFaultTests"])),
        ("S05", .tests([rtmp + "RTMPChunkTimestampTests"])),
        ("S06", .tests([rtmp + "RTMPChunkTimestampTests", rtmp + "TimestampFaultTests", rtmp + "FLVDemuxerTests"])),
        ("S07", .tests([rtmp + "RTMPChunkTimestampTests", rtmp + "RTMPCaptureTests"])),
        ("S08", .tests([program + "SourceTimelineFaultTests"])),
        ("S09", .tests([program + "SourceTimelineFaultTests"])),
        ("S10", .tests([program + "SourceTimelineFaultTests"])),
        ("S11", .tests([program + "SourceTimelineFaultTests"])),
        ("S12", .tests([program + "SourceTimelineFaultTests"])),
        (
            "S13",
            .tests([
                rtmp + "RTMPChunkTimestampTests", rtmp + "TimestampFaultTests", program + "SourceTimelineFaultTests",
            ])
        ),
        // Payloads.
        ("P01", .tests([rtmp + "FLVDemuxerTests"])),
        ("P02", .tests([rtmp + "FLVDemuxerTests", program + "FormatChangeTests"])),
        ("P03", .tests([rtmp + "FLVDemuxerTests"])),
        ("P04", .tests([rtmp + "FLVDemuxerTests", program + "PayloadFaultTests"])),
        ("P05", .tests([rtmp + "FLVDemuxerTests", program + "PayloadFaultTests"])),
        ("P06", .tests([rtmp + "FLVDemuxerTests", program + "PayloadFaultTests"])),
        ("P07", .tests([rtmp + "FLVDemuxerTests"])),
        (
            "P08",
            .tests([rtmp + "FLVDemuxerTests", program + "FormatChangeTests", program + "SoundClickTests"])
        ),
        ("P09", .tests([rtmp + "FLVDemuxerTests"])),
        ("P10", .tests([rtmp + "FLVDemuxerTests", rtmp + "PlainSoundTests", real + "SoundCodecTests"])),
        ("P11", .tests([rtmp + "EnhancedFaultTests"])), ("P12", .tests([rtmp + "EnhancedFaultTests"])),
        ("P13", .tests([rtmp + "EnhancedFaultTests"])), ("P14", .tests([rtmp + "EnhancedFaultTests"])),
        ("P15", .tests([rtmp + "FLVDemuxerTests", ingest + "IngestServerTests"])),
        ("P16", .tests([program + "SourceTimelineFaultTests", room + "RoomTrackTests"])),
        ("P17", .tests([program + "SourceTimelineFaultTests", room + "SourceLifeTests"])),
        ("P18", .tests([program + "FormatChangeTests"])), ("P19", .tests([program + "FormatChangeTests"])),
        ("P20", .tests([program + "SourceTimelineFaultTests"])),
        // A phone's screen.
        ("ReplayKit 1", .tests([program + "SourceTimelineFaultTests", room + "SourceLifeTests"])),
        ("ReplayKit 2", .tests([room + "RoomLifecycleTests"])),
        ("ReplayKit 3", .tests([program + "SourceTimelineFaultTests", room + "SourceLifeTests"])),
        ("ReplayKit 4", .tests([program + "FormatChangeTests", room + "RoomFormatTests"])),
        ("ReplayKit 5", .tests([program + "SourceTimelineFaultTests", room + "RoomTrackTests"])),
        ("ReplayKit 6", .tests([room + "RoomTrackTests"])), ("ReplayKit 7", .tests([real + "LossTests"])),
        ("ReplayKit 8", .tests([program + "FormatChangeTests", room + "RoomFormatTests"])),
        ("ReplayKit 9", .reason("a clip out of the past is cut from the segments by whoever keeps them")),
        ("ReplayKit 10", .reason("no media: the state of a source, which the control API's tests read")),
        // A PK of two rooms.
        ("NetEase 1", .reason("the room listens once its pipeline is complete, so nothing can come before it")),
        ("NetEase 2", .tests([room + "RoomSceneTests"])), ("NetEase 3", .tests([real + "RelayTests"])),
        ("NetEase 4", .tests([room + "RoomPKTests"])),
        ("NetEase 5", .tests([room + "RoomPKTests", room + "RoomDateRangeTests"])),
        ("NetEase 6", .tests([real + "LossTests", room + "RoomPKTests"])),
        ("NetEase 7", .tests([room + "RoomSceneTests"])), ("NetEase 8", .tests([program + "MixerSoundTests"])),
        ("NetEase 9", .tests([room + "RoomOutputTests"])),
        (
            "NetEase 10",
            .reason("no media: whether somebody is there is in the state, which the control API's tests read")
        ),
        ("NetEase 11", .tests([room + "RoomSceneTests"])),
        ("NetEase 12", .tests([room + "RoomSceneTests"])),
    ]

    @Test("no row is missing")
    func complete() {
        func numbers(_ letter: String, _ range: ClosedRange<Int>) -> [String] {
            range.map { letter + ($0 < 10 ? "0" : "") + "\($0)" }
        }
        let wanted =
            numbers("S", 1...13) + numbers("P", 1...20) + (1...10).map { "ReplayKit \($0)" }
            + (1...12).map { "NetEase \($0)" }
        #expect(Self.rows.map(\.row) == wanted)
    }

    @Test("each row's tests are where the table says")
    func found() {
        for (row, proof) in Self.rows {
            switch proof {
            case .reason(let reason): #expect(reason.count > 20, "\(row)")
            case .tests(let files):
                #expect(!files.isEmpty)
                for file in files {
                    let titles = Self.titles(SourceTree.text(file + ".swift"))
                    #expect(titles.contains { Self.names($0).contains(row) }, "\(file).swift has no test for \(row)")
                }
            }
        }
    }

    /// Titles of the tests of a file.
    private static func titles(_ text: String) -> [String] {
        text.components(separatedBy: "@Test(").dropFirst().compactMap { rest in
            let parts = rest.prefix(400).split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count > 1 ? String(parts[1]) : nil
        }
    }

    /// The rows before a title's colon.
    private static func names(_ title: String) -> [String] {
        guard let colon = title.firstIndex(of: ":") else { return [] }
        return title[..<colon].components(separatedBy: ", ")
    }
}
