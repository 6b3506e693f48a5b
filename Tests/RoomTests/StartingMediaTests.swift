import MediaKernels
import MediaTypes
import RoomSources
import Testing

import Room

@Suite("StartingMedia: the packet that starts the program")
struct StartingMediaTests {
    private static func packet(_ kind: TrackKind, isKey: Bool, at arrival: Int64) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([0]), pts: arrival, dts: arrival, timescale: 1000, isKey: isKey,
                arrival: arrival))
    }

    private static func frames(_ arrivals: Range<Int64>) -> [SourceItem] {
        arrivals.map { Self.packet(.video, isKey: false, at: $0) }
    }

    private static func configuration(_ codec: CodecName) -> SourceItem {
        .configuration(CodecParameters(codec: codec, configuration: [1]))
    }

    @Test("the first audio packet or key frame starts the program")
    func atOnce() {
        var starting = StartingMedia()
        #expect(starting.note([Self.configuration(.hevc)]) == nil)
        #expect(
            starting.note([
                Self.packet(.video, isKey: false, at: 1), Self.packet(.audio, isKey: true, at: 2),
                Self.packet(.video, isKey: true, at: 3),
            ]) == 2)
        #expect(starting.note([Self.packet(.video, isKey: true, at: 4)]) == 4)
    }

    @Test(
        "H.264 with neither key frames nor audio starts the program once it has waited for a key frame for a set number of frames"
    )
    func gradualRefresh() {
        let patience = Int64(StartingMedia.keyPatience)
        var starting = StartingMedia()
        #expect(starting.note([Self.configuration(.h264)]) == nil)
        #expect(starting.note(Self.frames(0..<patience)) == nil)
        #expect(starting.note(Self.frames(patience..<patience + 3)) == patience)
        #expect(starting.note(Self.frames(900..<901)) == 900, "and so does any later one")
    }

    @Test("the wait for a key frame, which delays the program's start, begins anew with each publication")
    func anew() {
        let patience = Int64(StartingMedia.keyPatience)
        var starting = StartingMedia()
        for _ in 0..<2 {
            #expect(starting.note([Self.configuration(.h264)]) == nil)
            #expect(starting.note(Self.frames(0..<patience)) == nil)
            #expect(starting.note([.end]) == nil)
        }
        #expect(starting.note([Self.configuration(.h264)]) == nil)
        #expect(starting.note(Self.frames(0..<patience)) == nil)
        #expect(starting.note(Self.frames(700..<701)) == 700)
    }

    @Test(
        "video in HEVC, AV1 and VP9 starts the program only with a key frame",
        arguments: [
            CodecName.hevc, .av1, .vp9,
        ])
    func others(codec: CodecName) {
        var starting = StartingMedia()
        #expect(starting.note([Self.configuration(codec)]) == nil)
        #expect(starting.note(Self.frames(0..<1000)) == nil)
        #expect(starting.note([Self.packet(.video, isKey: true, at: 1000)]) == 1000)
    }
}
