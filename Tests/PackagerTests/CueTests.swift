import HLS
import MediaTypes
import Packager
import Testing

@Suite("Timed metadata (emsg): in every rendition, once, with one id")
struct CueTests {
    private static func cue(_ packager: HLSPackager, _ number: Int64, _ frame: Int64) -> FrameMetadata {
        FrameMetadata(
            frame: frame,
            message: packager.message(number: number, at: frame, payload: ID3Tag.text("t", "event \(number)")))
    }

    /// Numbers of the events in the bytes, in order.
    private static func events(_ bytes: [UInt8]?) -> [String] {
        String(decoding: bytes ?? [], as: UTF8.self).matches(of: /event (\d+)/).map { String($0.output.1) }
    }

    @Test(
        "an emsg event is in the part and the segment of its frame in every video rendition, and not in the audio rendition"
    )
    func everywhere() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store)
        output.packager.cue(Self.cue(output.packager, 1, 10))
        output.packager.cue(Self.cue(output.packager, 2, 70))
        output.feed(0..<192)
        #expect(output.packager.step() == nil)
        for track in ["720p", "360p"] {
            #expect(Self.events(store.read("\(track)-1-0.m4s")) == ["1"])
            #expect(Self.events(store.read("\(track)-1-1.m4s")) == ["2"])
            #expect(Self.events(store.read("\(track)-1-2.m4s")).isEmpty)
            #expect((0..<4).map { Self.events(viewer.object("\(track)-1-0.\($0).m4s")).count } == [1, 0, 0, 0])
            #expect((0..<4).map { Self.events(viewer.object("\(track)-1-1.\($0).m4s")).count } == [1, 0, 0, 0])
        }
        #expect(store.files.filter { $0.key.hasPrefix("audio") }.allSatisfy { Self.events($0.value).isEmpty })
        let boxes = ["720p", "360p"].map { track -> [UInt8] in
            let bytes = store.read("\(track)-1-0.m4s") ?? []
            let start = bytes.firstRange(of: Array("emsg".utf8))?.lowerBound ?? 0
            return Array(bytes[start..<(start + 60)])
        }
        #expect(boxes[0] == boxes[1] && boxes[0].count == 60)
    }

    @Test("in an audio-only output, emsg events are in the audio segments")
    func audioAlone() throws {
        let store = MemoryStore()
        let output = try Output(store, tracks: [Output.audio])
        _ = try output.packager.begin(now: Output.origin)
        output.packager.cue(Self.cue(output.packager, 1, 70))
        output.feed(0..<192)
        output.packager.finish(endlist: true)
        _ = output.packager.step()
        #expect((0..<3).map { Self.events(store.read("audio-1-\($0).m4s")) } == [[], ["1"], []])
    }

    @Test("scene layouts for SEI user data are dropped once their frames were sent; audio tracks store none")
    func layouts() throws {
        let (output, _, _) = try EdgeTests.begun(MemoryStore())
        output.packager.carry(
            UserDataPlan(
                identifier: [UInt8](repeating: 1, count: 16), interval: 30, followsIDR: true, extraInfo: "",
                origin: Output.origin, fps: 30))
        for frame in Int64(0)..<320 {
            output.packager.show([JSONValue.Member("n", .integer(frame))], from: frame, isScheduled: true)
            output.feed(frame..<frame + 1)
        }
        // From one key frame to the next, plus what H.264 may reorder.
        let counts = output.tracks.indices.map { output.packager.layoutCount(track: $0) }
        #expect(counts[0] == counts[1] && (2...64).contains(counts[0]) && counts[2] == 0, "\(counts)")
    }

    @Test("emsg events of two workers of a room have different ids")
    func numbers() throws {
        let store = MemoryStore()
        let first = try Output(store)
        let second = try Output(store)
        #expect(
            first.packager.message(number: 1, at: 0, payload: []).id
                != second.packager.message(number: 1, at: 0, payload: []).id)
    }

    @Test("a lasting state (such as a score) stays open for the next worker, other date ranges end with their worker")
    func states() throws {
        let store = MemoryStore()
        let (first, _, _) = try EdgeTests.begun(store)
        let state = ProgramMark.lastingClass + "score"
        first.packager.mark(ProgramMarkTests.mark("1:0", 3, kind: state))
        first.packager.mark(ProgramMarkTests.mark("solo", 3))
        first.feed(0..<192)
        #expect(first.packager.step() == nil)
        first.packager.finish(endlist: false)
        _ = first.packager.step()
        let (second, viewer, _) = try EdgeTests.begun(store, now: Output.origin + 7_000_000_000)
        second.feed(256..<384)
        #expect(second.packager.step() == nil)
        func tags(_ name: String) -> [String] {
            ProgramMarkTests.tags(viewer.last("720p.m3u8")).filter { $0.contains(name) }
        }
        #expect(tags(state).count == 1 && tags(state).allSatisfy { !$0.contains("END-DATE") })
        #expect(tags("test.scene").count == 2)
        second.packager.mark(ProgramMarkTests.mark(nil, 390, kind: state))
        second.feed(384..<448)
        #expect(second.packager.step() == nil)
        #expect(tags(state).count == 2 && tags(state).last?.contains("END-DATE") == true)
    }
}
