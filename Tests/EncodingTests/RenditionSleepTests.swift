import LibAV
import MediaTypes
import Synchronization
import TestSupport
import Testing

import Encoding

@Suite("Renditions that sleep, in the encoding stage")
struct RenditionSleepTests {
    @Test("renditions fall asleep and wake at segment boundaries, and wake only if their encoder has output everything")
    func boundaries() {
        var sleep = RenditionSleep(segmentTicks: 64)
        func step(_ tick: Int64, _ wanted: Set<Int>, settled: Set<Int> = []) -> [RenditionSleep.Change] {
            sleep.step(tick, wanted: wanted, settled: settled)
        }
        #expect(step(10, [2]) == [.sleep(track: 2)], "at the first tick of a run")
        #expect(step(11, [1, 2]) == [])
        #expect(step(64, [0, 1, 2]) == [.sleep(track: 0), .sleep(track: 1)])
        #expect(sleep.asleep == [0, 1, 2])
        #expect(step(128, [1], settled: [0]) == [.wake(track: 0)])
        #expect(step(191, [1], settled: [2]) == [])
        #expect(step(192, [0, 1], settled: [2]) == [.wake(track: 2), .sleep(track: 0)])
        #expect(step(256, [0, 1], settled: [0, 1]) == [] && sleep.asleep == [0, 1])
    }

    @Test("in a room with passthrough, renditions fall asleep and wake where its segments begin")
    func cuts() {
        var sleep = RenditionSleep(segmentTicks: 64)
        #expect(sleep.step(0, beginsSegment: true, wanted: [], settled: []) == [])
        #expect(sleep.step(64, beginsSegment: false, wanted: [1], settled: []) == [])
        #expect(sleep.step(70, beginsSegment: true, wanted: [1], settled: []) == [.sleep(track: 1)])
        #expect(sleep.step(128, beginsSegment: false, wanted: [], settled: [1]) == [])
        #expect(sleep.step(130, beginsSegment: true, wanted: [], settled: [1]) == [.wake(track: 1)])
    }

    private enum TrackEvent: Equatable {
        case packet(Int64, isKey: Bool)
        case slept(Int64)
        case woke(Int64)
    }

    @Test("a sleeping rendition gets no frames, and begins with an IDR frame when it wakes; other renditions continue")
    func packets() async throws {
        let events = Mutex<[Int: [TrackEvent]]>([:])
        @Sendable func note(_ track: Int, _ event: TrackEvent) {
            events.withLock { $0[track, default: []].append(event) }
        }
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: 30, gopFrames: 16, sampleRate: 48_000, audioBitrates: [64_000],
            isOffline: false)
        settings.sleepTicks = 32
        var output = EncodingStage.Output(
            packet: { track, packet in
                note(track, .packet(packet.pts * 30 / Int64(packet.timescale), isKey: packet.isKey))
            },
            configuration: { _, change in Issue.record("\(change)") }, finished: { _ in }, failed: { Issue.record($0) })
        output.slept = { note($0, .slept($1)) }
        output.woke = { note($0, .woke($1)) }
        let renditions = [("large", 320), ("small", 160)].map { name, width in
            EncodedRendition(
                name: name,
                settings: VideoEncoderSettings(
                    width: width, height: width * 9 / 16, fps: 30, preset: "ultrafast", profile: "high",
                    bitrate: 300_000, maxBitrate: 360_000, bufferSize: 360_000, bFrames: 0, lookaheadFrames: 3,
                    threads: 1))
        }
        let ladder = try EncodingStage.open(renditions: renditions, settings: settings, output: output)
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        func put(_ ticks: Range<Int64>) { for tick in ticks { #expect(ladder.put(picture, tick: tick)) } }
        put(0..<20)
        try await waitUntil("all renditions are encoded", { ladder.control.enteredByAll }) { $0 == 19 }
        ladder.control.setAsleep([1])
        put(20..<70)
        try await waitUntil("the rendition sleeps", { ladder.control.sleepingTracks }) { $0 == [1] }
        try await waitUntil("the other rendition is encoded", { ladder.control.enteredByAll }) { $0 == 69 }
        ladder.control.setAsleep([])
        put(70..<110)
        try await waitUntil("the rendition is encoded again", { ladder.control.enteredByAll }) { $0 == 109 }
        ladder.control.setAsleep([0, 1])
        put(110..<150)
        try await waitUntil("all sleep", { ladder.control.sleepingTracks }) { $0 == [0, 1] }
        try await waitUntil("the newest tick counts as encoded", { ladder.control.enteredByAll }) { $0 == 149 }
        ladder.finish()
        func coded(_ ticks: Range<Int64>) -> [TrackEvent] { ticks.map { .packet($0, isKey: $0 % 16 == 0) } }
        let heard = events.withLock { $0 }
        #expect(heard[1] == coded(0..<32) + [.slept(32), .woke(96)] + coded(96..<128) + [.slept(128)])
        #expect(heard[0] == coded(0..<128) + [.slept(128)])
    }
}
