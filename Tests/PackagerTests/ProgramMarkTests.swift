import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Date ranges of a program, in step with its frames: rfc8216bis §4.4.5.1, §6.2.1, §6.2.4")
struct ProgramMarkTests {
    static func mark(_ scene: String?, _ tick: Int64, scheduled: Bool = false, kind: String = "test.scene")
        -> ProgramMark
    {
        ProgramMark(
            rangeClass: kind, tick: tick, isScheduled: scheduled,
            attributes: scene.map { [DateRange.Attribute("SCENE", $0)] })
    }

    static func date(_ tick: Int64) -> String {
        ProgramDate.format(Output.origin + TimeMath.scale(tick, by: 1_000_000_000, over: 30))
    }

    static func tags(_ text: String) -> [String] { EdgeTests.tags(text, "#EXT-X-DATERANGE:") }

    static func opening(_ number: Int, _ scene: String, _ tick: Int64, run: Int = 1) -> String {
        "#EXT-X-DATERANGE:ID=\"scene-\(run)-\(number)\",CLASS=\"test.scene\",START-DATE=\"\(Self.date(tick))\","
            + "X-SCENE=\"\(scene)\""
    }

    static func closing(_ number: Int, _ tick: Int64, _ end: Int64) -> String {
        let duration = AttributeNumber.milliseconds(Self.date(tick), Self.date(end))
        return "#EXT-X-DATERANGE:ID=\"scene-1-\(number)\",CLASS=\"test.scene\",START-DATE=\"\(Self.date(tick))\","
            + "END-DATE=\"\(Self.date(end))\",DURATION=\(duration)"
    }

    /// Seconds between two dates as playlists write them.
    private enum AttributeNumber {
        static func milliseconds(_ start: String, _ end: String) -> String {
            let length = ((ProgramDate.parse(end) ?? 0) - (ProgramDate.parse(start) ?? 0)) / 1_000_000
            return "\(length / 1_000).\(String(length % 1_000 + 1_000).dropFirst())"
        }
    }

    @Test("a date range's end is listed with the part of its frame, a start with its whole segment, in every playlist")
    func withItsPart() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store)
        output.packager.mark(Self.mark("solo", 0))
        output.feed(0..<66)
        _ = output.packager.step()
        output.packager.mark(Self.mark("pk", 70))
        output.feed(66..<79)
        #expect(EdgeTests.lists.allSatisfy { Self.tags(viewer.last($0)) == [Self.opening(1, "solo", 0)] })
        output.feed(79..<80)
        let ended = [Self.opening(1, "solo", 0), Self.closing(1, 0, 70)]
        #expect(EdgeTests.lists.allSatisfy { Self.tags(viewer.last($0)) == ended })
        output.feed(80..<128)
        #expect(output.packager.step() == nil)
        let expected = ended + [Self.opening(2, "pk", 70)]
        for list in EdgeTests.lists {
            #expect(Self.tags(viewer.last(list)) == expected, "\(list)")
            for text in viewer.texts(list) where Self.tags(text).count == 3 {
                #expect(text.contains("-1-1.m4s\n"), "\(list): the range is listed before its segment")
            }
        }
        #expect(EdgeTests.lists.allSatisfy { Self.tags(store.text($0)) == expected }, "the directory")
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a date range can be withdrawn or replaced until its frame is published; a repetition adds none")
    func takenBack() throws {
        let (output, viewer, _) = try EdgeTests.begun(MemoryStore())
        output.packager.mark(Self.mark("solo", 0))
        output.packager.mark(Self.mark("late", 90, scheduled: true))
        output.packager.mark(Self.mark("later", 90, scheduled: true))
        output.packager.mark(Self.mark("held", 128))
        output.packager.mark(Self.mark("solo", 20))
        output.packager.mark(Self.mark("pk", 40))
        output.feed(0..<160)
        _ = output.packager.step()
        let expected = [
            Self.opening(1, "solo", 0), Self.closing(1, 0, 40), Self.opening(2, "pk", 40), Self.closing(2, 40, 90),
            Self.opening(3, "later", 90),
        ]
        #expect(Self.tags(viewer.last("720p.m3u8")) == expected)
        // A date range reported late is listed at once, with the date of its frame.
        output.packager.mark(Self.mark(nil, 150))
        #expect(EdgeTests.lists.allSatisfy { Self.tags(viewer.last($0)) == expected + [Self.closing(3, 90, 150)] })
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("the end of the room closes open date ranges at its last frame")
    func roomEnds() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store)
        output.packager.mark(Self.mark("solo", 0))
        output.packager.mark(Self.mark("never", 900, scheduled: true))
        output.feed(0..<150)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let expected = [Self.opening(1, "solo", 0), Self.closing(1, 0, 150)]
        for list in EdgeTests.lists {
            #expect(Self.tags(viewer.last(list)) == expected && Self.tags(store.text(list)) == expected)
        }
    }

    @Test("a successor keeps listed date ranges, closes open ones, and never reuses an ID")
    func successor() throws {
        let store = MemoryStore()
        let (one, _, _) = try EdgeTests.begun(store)
        one.packager.mark(Self.mark("so\\lo", 0))
        one.packager.mark(Self.mark("pk", 100))
        one.feed(0..<192)
        // Listed at the edge, in no whole segment yet: the state file has it anyway.
        one.packager.mark(Self.mark("guest", 193))
        one.feed(192..<208)
        _ = one.packager.step()
        #expect(store.text("state.json").contains("scene-1-3"))
        let (two, viewer, begin) = try EdgeTests.begun(store, now: Output.origin + 10 * 1_000_000_000)
        let old = [
            Self.opening(1, "so\\lo", 0), Self.closing(1, 0, 100), Self.opening(2, "pk", 100),
            Self.closing(2, 100, 193),
            Self.opening(3, "guest", 193),
        ]
        // It started after the last whole segment: it ends with the last part that viewers were shown.
        let closed = old + [Self.closing(3, 193, 208)]
        #expect(EdgeTests.lists.allSatisfy { Self.tags(viewer.last($0)).sorted() == closed.sorted() })
        two.packager.mark(Self.mark("guest", begin.firstTick))
        two.feed(begin.firstTick..<begin.firstTick + 128)
        _ = two.packager.step()
        let all = closed + [Self.opening(1, "guest", begin.firstTick, run: 2)]
        #expect(EdgeTests.lists.allSatisfy { Self.tags(viewer.last($0)).sorted() == all.sorted() })
        #expect(EdgeTests.lists.allSatisfy { Self.tags(store.text($0)).sorted() == all.sorted() })
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a date range marked right before a drain is in the state file after it", arguments: [false, true])
    func drained(isRefused: Bool) throws {
        let store = MemoryStore()
        let (output, _, _) = try EdgeTests.begun(store)
        output.packager.mark(Self.mark("solo", 0))
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        // Its frame is out.
        output.packager.mark(Self.mark("pk", 60))
        if isRefused {
            store.refuse { $0 == "state.json" }
            #expect(output.packager.step() == nil)
        }
        output.packager.finish(endlist: false)
        if isRefused {
            #expect(output.packager.step() == nil)
            store.refuse { _ in false }
        }
        #expect(!store.text("state.json").contains("scene-1-2"))
        #expect(output.packager.step() == .drained)
        #expect(store.text("state.json").contains("scene-1-2"))
    }

    @Test(
        "damaged date ranges in the state file are an error",
        arguments: ["[1]", "{}", "[[\"a\",\"b\",1,null,null,0,[\"x\"]]]", "[[\"a\",\"b\",1.5,null,null,0,[]]]"])
    func damaged(rows: String) throws {
        let store = MemoryStore()
        let (one, _, _) = try EdgeTests.begun(store)
        one.packager.mark(Self.mark("solo", 0))
        one.feed(0..<128)
        _ = one.packager.step()
        let text = store.text("state.json")
        let start = try #require(text.firstRange(of: "\"dateRanges\": ")?.upperBound)
        let end = try #require(text.firstRange(of: "\"tracks\"")?.lowerBound)
        let damaged = String(text[..<start]) + rows + ",\n" + String(text[end...])
        store.content.withLock { $0.files["state.json"] = Array(damaged.utf8) }
        #expect(throws: MediaError.self) { _ = try Output(store) }
    }

    @Test(
        "if frames of different tracks arrive in random order, date ranges keep their attributes, equal and on time in all playlists",
        arguments: 1...8)
    func always(seed: UInt64) throws {
        let store = MemoryStore()
        let settings = try Output.settings { $0.windowSeconds = 10 }
        let (output, viewer, _) = try EdgeTests.begun(store, settings: settings)
        var state = seed
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var truth: [(tick: Int64, scene: String)] = [(0, "s0")]
        output.packager.mark(Self.mark("s0", 0))
        var frames: [Int64] = [0, 0, 0]
        while (frames.min() ?? 0) < 1_200 {
            let front = frames.max() ?? 0
            if next(4) == 0, front >= (truth.last?.tick ?? 0) {
                let tick = front + Int64(next(30)) + 1
                truth.append((tick, "s\(truth.count)"))
                output.packager.mark(Self.mark("s\(truth.count - 1)", tick))
            }
            let track = Int(next(3))
            guard frames[track] - (frames.min() ?? 0) < 40 else { continue }
            let count = Int64(next(12)) + 1
            output.feed(frames[track]..<frames[track] + count, only: [track])
            frames[track] += count
            if next(9) == 0 { _ = output.packager.step() }
            let sets = EdgeTests.lists.map { Self.tags(viewer.last($0)).map { $0.prefix { $0 != "," } } }
            #expect(sets.allSatisfy { $0 == sets[0] }, "the sets differ")
        }
        var known: [String: Substring] = [:]
        for list in EdgeTests.lists {
            for text in viewer.texts(list) {
                let lines = text.split(separator: "\n")
                for line in lines where line.hasPrefix("#EXT-X-DATERANGE") {
                    let id = String(line.prefix { $0 != "," }) + (line.contains("END-DATE") ? " end" : "")
                    #expect(known[id] == nil || known[id] == line, "\(id) changed")
                    known[id] = line
                }
                let dates = lines.filter { $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") }
                    .compactMap { ProgramDate.parse(String($0.dropFirst(25))) }
                guard let first = dates.first, let last = dates.last else { continue }
                let open = lines.lastIndex { $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME") } ?? 0
                let isWhole = lines[open...].contains { $0.hasPrefix("#EXTINF") }
                // Some tracks are behind others, by less than a segment, and a range waits for all of them.
                let certain = last - 2_200_000_000
                for (index, mark) in truth.enumerated() {
                    let start = ProgramDate.parse(Self.date(mark.tick)) ?? 0
                    let end = index + 1 < truth.count ? ProgramDate.parse(Self.date(truth[index + 1].tick)) ?? 0 : .max
                    let isListed = text.contains("X-SCENE=\"\(mark.scene)\"")
                    if end > first + 40_000_000, start < certain {
                        #expect(isListed, "\(list): \(mark.scene) is missing")
                    }
                    if isListed, !isWhole { #expect(start < last, "\(list): \(mark.scene) starts in the open segment") }
                }
            }
        }
        #expect(truth.count > 15)
        #expect(viewer.faults.isEmpty, "\(viewer.faults.prefix(5))")
    }

    @Test("adding a date range to 20,000 others takes less than 40 times the time of adding one to 2,000")
    func many() throws {
        var outputs: [Int: Output] = [:]
        for count in [2_000, 20_000] {
            let store = MemoryStore()
            let output = try Output(store, settings: try Output.settings { $0.playlistType = .event })
            _ = try output.packager.begin(now: Output.origin)
            output.feed(0..<64)
            #expect(output.packager.step() == nil)
            // Frames that are out: each range is listed at once.
            for number in 0..<count { output.packager.mark(Self.mark("\(number)", 0)) }
            #expect(output.packager.step() == nil)
            #expect(store.text("state.json").contains("[\"scene-1-\(count)\""))
            outputs[count] = output
        }
        var number = 0
        let ratio = Growth.ratio(small: 2_000, large: 20_000) { count in
            number += 1
            outputs[count]?.packager.mark(Self.mark("new \(number)", 0))
            #expect(outputs[count]?.packager.step() == nil)
        }
        #expect(ratio < 40, "\(ratio): 10 is in proportion, 100 its square")
    }
}
