import Dispatch
import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Parts are still served after their worker was killed: rfc8216bis §6.2.2, §4.4.5.3")
struct KeptPartTests {
    /// A worker that is killed after some frames.
    private func killed(_ store: MemoryStore, after frames: Int64, _ viewer: EdgeViewer) throws {
        let output = try Output(store)
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        self.live(output, 0..<frames)
    }

    private func live(_ output: Output, _ frames: Range<Int64>) {
        var frame = frames.lowerBound
        while frame < frames.upperBound {
            let next = min(frame + 16, frames.upperBound)
            output.feed(frame..<next)
            _ = output.packager.step()
            frame = next
        }
    }

    private func parts(_ list: String) -> [String] {
        EdgeTests.tags(list, "#EXT-X-PART:").compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
    }

    private func hint(_ list: String) -> String? {
        EdgeTests.tags(list, "#EXT-X-PRELOAD-HINT").first?.split(separator: "\"").last.map(String.init)
    }

    @Test(
        "after a kill at various frames, listed parts keep their names and bytes, and the hinted part appears",
        arguments: [192, 207, 208, 224, 240, 255, 256, 272], [2, 17, 64, 300])
    func everyPlace(frames: Int64, away: Int64) throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        try self.killed(store, after: frames, viewer)
        let before = EdgeTests.lists.map { viewer.last($0) }
        let count = EdgeTests.lists.map { viewer.texts($0).count }
        let second = try Output(store)
        second.packager.attach(viewer.take)
        let beginning = try second.packager.begin(
            now: SlateTests.nanoseconds(frames + away), slate: SlateTests.slate())
        self.live(second, beginning.firstTick..<beginning.firstTick + 96)
        // After a long outage every earlier part is more than three target durations old.
        let faults = viewer.faults.filter { away < 300 || !$0.hasSuffix("is gone from the end") }
        #expect(faults.isEmpty, "\(faults)")
        for (index, list) in EdgeTests.lists.enumerated() {
            let hint = try #require(self.hint(before[index]))
            #expect(viewer.object(hint) != nil || viewer.seen.withLock { $0.removed.contains(hint) }, "\(hint)")
            let (hints, came) = viewer.seen.withLock { ($0.hints[list] ?? [], $0.removed.union($0.objects.keys)) }
            let next = self.hint(viewer.last(list))
            for hint in hints where hint != next {
                #expect(came.contains(hint), "\(hint) was hinted and never published")
            }
            // The successor's first playlist has everything listed before, except segments too far from its end.
            let after = self.parts(viewer.texts(list)[count[index]])
            let kept = self.parts(before[index])
            let stayed = kept.drop { !after.contains($0) }
            #expect(after.starts(with: stayed), "\(list): \(after) after \(kept)")
            #expect((kept.count - stayed.count).isMultiple(of: 4) || away == 300)
            #expect(stayed.count >= 4 || away == 300)
            for name in kept where viewer.object(name) == nil {
                #expect(viewer.seen.withLock { $0.removed.contains(name) }, "\(name) was removed too early")
            }
        }
        try SlateTests.expectContinuous(store)
    }

    @Test("a killed worker's segment whose parts were all listed is kept by the successor, not replaced by slate")
    func wholeSegment() throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        try self.killed(store, after: 192, viewer)
        // The last segment's parts are out; its number is not in the state file.
        let second = try Output(store)
        second.packager.attach(viewer.take)
        let before = store.text("state.json")
        _ = try second.packager.begin(now: SlateTests.nanoseconds(300), slate: SlateTests.slate())
        #expect(before.contains("\"nextMediaSequence\": 3"))
        let fills = second.events.all.compactMap { if case .slateFilled(let fill) = $0 { fill } else { nil } }
        #expect(fills.map(\.frames) == [192..<288])
        #expect(fills.first?.mediaSequence == 3 && fills.first?.wholeSegments == 1)
    }

    @Test("slate starts after the last part shown, in each track")
    func slateBehind() throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let output = try Output(store)
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        self.live(output, 0..<192)
        // The encoder of the second rendition is behind.
        output.feed(192..<240, only: [0, 2])
        output.feed(192..<208, only: [1])
        let shown = try ["720p-1-3.2.m4s", "360p-1-3.0.m4s", "audio-1-3.2.m4s"].map { try #require(viewer.object($0)) }
        let second = try Output(store)
        second.packager.attach(viewer.take)
        _ = try second.packager.begin(now: SlateTests.nanoseconds(320), slate: SlateTests.slate())
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
        for (name, index) in [("720p", 2), ("360p", 0), ("audio", 2)] {
            let list = viewer.last("\(name).m3u8")
            let parts = self.parts(list).filter { $0.contains("-3.") }
            #expect(
                parts
                    == (0...index).map { "\(name)-1-3.\($0).m4s" } + ["\(name)-1-3.\(index + 1).m4s"]
                    + (index + 2..<4).map { "\(name)-2-3.\($0).m4s" }, "the hint of the worker before comes true")
        }
        for (name, bytes) in zip(["720p", "360p", "audio"], shown) {
            let segment = try #require(store.read("\(name)-2-3.m4s"))
            #expect(segment.firstRange(of: bytes) != nil, "the segment has the part as it was shown")
        }
        let fills = second.events.all.compactMap { if case .slateFilled(let fill) = $0 { fill } else { nil } }
        #expect(fills.map(\.frames.lowerBound) == [208])
        #expect(fills.map(\.wholeSegments) == [2], "segments 3, which begins with media, and 4")
        try SlateTests.expectContinuous(store)
    }

    @Test("the directory has part files of the current segment only, and none after the end")
    func cleanUp() throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let output = try Output(store)
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        self.live(output, 0..<240)
        func parts() -> [String] { store.files.keys.filter { $0.split(separator: ".").count > 2 }.sorted() }
        #expect(
            parts() == ["360p", "720p", "audio"].flatMap { name in (0..<3).map { "\(name)-1-3.\($0).m4s" } })
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        #expect(parts().isEmpty && !store.contains("edge.json"))
    }

    @Test("a damaged edge.json, or one that does not match the state file, is ignored", arguments: 0..<6)
    func damaged(kind: Int) throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        try self.killed(store, after: 230, viewer)
        let text = store.text("edge.json")
        let other =
            switch kind {
            case 0: String(text.dropLast(9))
            case 1: text.replacing("720p-1-3.0.m4s", with: "../state.json")
            case 2: text.replacing("[3,1,", with: "[3,2,")
            case 3: text.replacing("[3,0,", with: "[9007199254740993,0,")
            case 4: text.replacing(",16000,", with: ",9007199254740992,")
            default: text.replacing("\"map\": \"720p-1.mp4\"", with: "\"map\": \"720p-7.mp4\"")
            }
        #expect(other != text)
        store.content.withLock { $0.files["edge.json"] = Array(other.utf8) }
        let second = try Output(store)
        let fresh = EdgeViewer()
        second.packager.attach(fresh.take)
        let beginning = try second.packager.begin(now: SlateTests.nanoseconds(300), slate: SlateTests.slate())
        self.live(second, beginning.firstTick..<beginning.firstTick + 96)
        #expect(fresh.faults.isEmpty, "\(fresh.faults)")
        try SlateTests.expectContinuous(store)
    }

    @Test("while the store hangs, parts are still listed, and they are stored when it continues")
    func hangs() throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let output = try Output(store, settings: Output.settings { $0.storePatience = 1_000_000 })
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        self.live(output, 0..<192)
        let gate = DispatchSemaphore(value: 0)
        store.content.withLock { content in
            content.before = { name in if name.split(separator: ".").count > 2 { gate.wait() } }
        }
        output.feed(192..<224)
        #expect(self.parts(viewer.last("720p.m3u8")).contains("720p-1-3.1.m4s"))
        #expect(!store.contains("720p-1-3.0.m4s"))
        store.content.withLock { $0.before = { _ in } }
        for _ in 0..<8 { gate.signal() }
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == .drained)
        #expect(store.contains("720p-1-3.1.m4s"), "late parts are kept, too")
    }
}
