import MediaTypes
import RTMP
import Testing

@Suite("Unusual and faulty RTMP timestamps, in captures and generated: the timestamps of the packets")
struct TimestampFaultTests {
    /// Timestamps of the packets of a capture, in milliseconds and in order of arrival.
    private func times(_ name: String, _ kind: TrackKind) -> [Int64] {
        var run = FLVDemuxerTests.Run()
        for message in RTMPCaptureTests.messages(name) where message.type == 8 || message.type == 9 {
            run.feed(message.type == 9 ? .video : .audio, message.payload, message.timestamp)
        }
        return run.packets.filter { $0.kind == kind }.map(\.dts)
    }

    @Test(
        "media that starts at 17,000 s keeps its timestamps, with extended timestamps repeated or not",
        arguments: ["ff_ext", "lib_ext"])
    func extendedStart(name: String) {
        let times = self.times(name, .video)
        #expect(times.first == 17_000_000)
        #expect(zip(times, times.dropFirst()).allSatisfy { (30...70).contains($1 - $0) })
    }

    @Test("a timestamp delta of -30 ms moves the time back by 30 ms, not forward by 49 days")
    func negativeDelta() {
        let (video, audio) = (self.times("lib_nonmono", .video), self.times("lib_nonmono", .audio))
        // 1133 ms of video comes before 1103 ms of audio on one chunk stream.
        #expect(video.contains(1133) && audio.contains(1103))
        #expect((video + audio).allSatisfy { (0...20_000).contains($0) })
        #expect(zip(audio.dropFirst(), audio.dropFirst(2)).allSatisfy { (0...60).contains($1 - $0) })
    }

    @Test("timestamps continue past 24.9 days and past the wrap at 49.7 days")
    func wraps() {
        var run = FLVDemuxerTests.Run()
        run.audio([0xAF, 0, 0x11, 0x90])
        let start: UInt32 = 0x7FFF_FFF0
        var expected: [Int64] = []
        for step in Int64(0)..<6_000_000 where step % 100_000 == 0 {
            // Fourteen hours at a time, across the sign bit and the wrap; every second one comes 50 ms early.
            let at = Int64(start) + step * 500 - (step % 200_000 == 0 ? 0 : 50)
            run.audio([0xAF, 1, 1], at: UInt32(truncatingIfNeeded: at))
            expected.append(at)
        }
        #expect(run.packets.map(\.dts) == expected)
        #expect((expected.last ?? 0) > 1 << 32)
    }
}
