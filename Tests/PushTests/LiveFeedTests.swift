import MediaTypes
import Push
import Synchronization
import Testing

@Suite("LiveFeed: a rendition's tags for its readers")
struct LiveFeedTests {
    private struct StoppedClock: MonotonicClock {
        func now() -> Int64 { 0 }
    }

    private final class Reader: LiveReader {
        private let state = Mutex<(audio: [Int64], hasEnded: Bool)>(([], false))

        /// The times of the audio tags that came before the end.
        var audio: [Int64]? { self.state.withLock { $0.hasEnded ? $0.audio : nil } }

        func receive(_ tags: [LiveTag], now: Int64) {
            let times = tags.filter { $0.isPacket && $0.kind == .audio }.map(\.time)
            self.state.withLock { if !$0.hasEnded { $0.audio += times } }
        }

        func ended() { self.state.withLock { $0.hasEnded = true } }
    }

    @Test("readers get the audio that still waits for video before the feed ends")
    func end() async throws {
        let outputs = LiveOutputs([FeedCoreTests.description], makesFiles: true, clock: StoppedClock())
        let feed = try #require(outputs.feed(named: "180p"))
        feed.configure(FeedCoreTests.record)
        feed.configure(CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
        let reader = Reader()
        feed.add(reader)
        feed.receive(FeedCoreTests.picture(0, isKey: true))
        for frame in 0..<4 { feed.receive(FeedCoreTests.audioPacket(Int64(frame))) }
        await outputs.stop(reason: "the room has ended")
        #expect(reader.audio == [0, 21, 43, 64])
    }
}
